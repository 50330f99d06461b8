import type { ConfigInputs } from '../../shared/config/effective.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { ConfigError, type ConfigIssue, issueText } from '../../shared/errors.ts';

const REPOSITORY = 'https://example.com/fleet';

/**
 * What is wrong with a providerConfig whatever the ConfigMap `flux-config` says, which is not looked at here: it may
 * bring the source to a Kustomization, or another namespace for Flux. So only what is found beside every ConfigMap that
 * could mend something counts; the rest is told by the Extension.
 */
export function issuesWithAnyFluxConfig(inputs: Omit<ConfigInputs, 'fluxConfig'>): ConfigIssue[] {
  const found: ConfigIssue[][] = [];
  for (const fluxConfig of fluxConfigs(inputs.providerConfig)) {
    const issues = issuesOf({ ...inputs, fluxConfig });
    if (issues.length === 0) return [];
    found.push(issues);
  }
  const [first = [], ...others] = found;
  const always = others.reduce((kept, other) => {
    const sentences = new Set(other.map(issueText));
    return kept.filter((issue) => sentences.has(issueText(issue)));
  }, first);
  // Beside each ConfigMap it is wrong in another way; that it is wrong is sure.
  return always.length > 0 ? always : first;
}

/**
 * None, one with a repository, and one with a repository for each namespace that the providerConfig names. A ConfigMap
 * may bring the components that a source and a Kustomization need, too.
 */
function fluxConfigs(providerConfig: unknown): ConfigInputs['fluxConfig'][] {
  const withRepository = (more: Record<string, string> = {}) => ({
    namespace: '',
    data: { repositoryUrl: REPOSITORY, componentsExtra: 'source-controller, kustomize-controller', ...more },
  });
  return [
    undefined,
    withRepository(),
    ...namespacesIn(providerConfig).map((namespace) => withRepository({ namespace })),
  ];
}

function namespacesIn(providerConfig: unknown): string[] {
  const { source, kustomization } = fieldsOf(providerConfig);
  const namespaces = [source, kustomization].map(
    (part) => fieldsOf(fieldsOf(fieldsOf(part).template).metadata).namespace,
  );
  return [...new Set(namespaces)].filter((namespace) => typeof namespace === 'string' && namespace !== '') as string[];
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function issuesOf(inputs: ConfigInputs): ConfigIssue[] {
  try {
    effectiveConfig(inputs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}
