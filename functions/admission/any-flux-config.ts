import { mergeLayers } from '../../shared/config/effective-config.ts';
import type { Layer } from '../../shared/config/layer.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { asObject } from '../../shared/config/values.ts';
import { ConfigError, type ConfigIssue, issueText } from '../../shared/errors.ts';

const REPOSITORY = 'https://example.com/fleet';

/** A providerConfig, read once: a request may need it for several lists of resources. */
export interface ReadProviderConfig {
  value: unknown;
  layer: Layer;
}

/**
 * Returns the issues of a providerConfig that no ConfigMap `flux-config` could resolve. The real ConfigMap is not read:
 * it may add the source for a Kustomization, or set another namespace for Flux. So an issue counts only when it exists
 * together with each of several representative ConfigMaps; the Extension reports the others.
 */
export function issuesWithAnyFluxConfig(
  { value, layer }: ReadProviderConfig,
  shootResources: ConfigInputs['shootResources'],
  landscape: ConfigInputs['landscape'],
): ConfigIssue[] {
  // Its content is unknown then, so nothing can be added to it.
  if (!layer.isRead) return layer.issues;
  const found: ConfigIssue[][] = [];
  for (const fluxConfig of representativeFluxConfigs(value)) {
    const issues = issuesOf({ landscape, fluxConfig, shootResources }, layer);
    if (issues.length === 0) return [];
    found.push(issues);
  }
  const [first = [], ...others] = found;
  const common = others.reduce((remaining, other) => {
    const sentences = new Set(other.map(issueText));
    return remaining.filter((issue) => sentences.has(issueText(issue)));
  }, first);
  // Each ConfigMap leads to another sentence, but none makes the providerConfig valid.
  return common.length > 0 ? common : first;
}

/**
 * Returns the representative ConfigMaps: none, one with a repository, and one with a repository for each namespace in
 * the providerConfig. They enable the components that a source and a Kustomization need, as a real one may.
 */
function representativeFluxConfigs(providerConfig: unknown): ConfigInputs['fluxConfig'][] {
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

const fieldsOf = (value: unknown) => asObject(value) ?? {};

function issuesOf(inputs: Omit<ConfigInputs, 'providerConfig'>, layer: Layer): ConfigIssue[] {
  try {
    mergeLayers(inputs, layer);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The policy may refuse the representative ConfigMap, and the real one may have what is missing.
    return error.issues.filter(
      ({ rule, object, mayBeElsewhere }) =>
        mayBeElsewhere !== true && (rule === undefined || object === PROVIDER_CONFIG),
    );
  }
}
