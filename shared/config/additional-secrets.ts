import type { KubeObject } from '../kube/resource.ts';
import type { ConfigIssue } from '../runtime/errors.ts';
import type { ConfigInputs, CopiedSecret } from './effective.ts';
import type { AdditionalSecret } from './layer.ts';
import { quote } from './quote.ts';
import { secretNames } from './secret-users.ts';
import { resourceProblem } from './shoot-resources.ts';

/** What the additional Secrets meet in the Shoot. */
export interface Surroundings {
  fluxNamespace: string;
  /** Source and Kustomization, whose references decide where else a Secret has to be. */
  users: KubeObject[];
  sourceSecret: CopiedSecret | undefined;
  shootResources: ConfigInputs['shootResources'];
}

/**
 * The additional Secrets: each in the namespace of Flux, as users know it, and in the namespace of a source or
 * Kustomization that refers to it, because Flux reads Secrets only there.
 */
export function additionalSecrets(
  entries: AdditionalSecret[],
  surroundings: Surroundings,
): { secrets: CopiedSecret[]; issues: ConfigIssue[] } {
  const issues: ConfigIssue[] = [];
  const secrets: CopiedSecret[] = [];
  const taken = new Map<string, string>();
  const { sourceSecret, shootResources } = surroundings;
  if (sourceSecret?.targetName !== undefined) {
    taken.set(`${sourceSecret.namespace}/${sourceSecret.targetName}`, "the target of the source's credentials");
  }
  for (const [index, { name, targetName }] of entries.entries()) {
    const path = `additionalSecretResources[${index}]`;
    const issue = (field: string, message: string) =>
      issues.push({ object: 'providerConfig', path: `${path}.${field}`, message });
    // A missing name is the schema's finding.
    const problem = name === '' ? undefined : resourceProblem(name, shootResources);
    if (problem !== undefined) issue('name', problem);
    const target = targetName ?? ownName(name, shootResources);
    // Without the Shoot the Secret's own name is not known, but an entry named twice is still a collision.
    const holder = target ?? `entry ${name}`;
    for (const namespace of namespacesOf(target, surroundings)) {
      const owner = name === '' && target === undefined ? undefined : taken.get(`${namespace}/${holder}`);
      if (owner !== undefined) {
        const field = targetName === undefined ? 'name' : 'targetName';
        issue(
          field,
          `${quote(target ?? name)} in namespace ${namespace} is already ${owner}; write another targetName`,
        );
        break;
      }
      taken.set(`${namespace}/${holder}`, `the target of ${path}`);
      secrets.push({ origin: { type: 'resource', resourceName: name }, targetName, namespace });
    }
  }
  return { secrets, issues };
}

function ownName(name: string, resources: ConfigInputs['shootResources']): string | undefined {
  const own = resources?.find((resource) => resource.name === name)?.resourceName;
  return own === '' ? undefined : own;
}

function namespacesOf(target: string | undefined, { fluxNamespace, users }: Surroundings): Set<string> {
  const using = users.filter((user) => target !== undefined && secretNames(user).has(target));
  return new Set([fluxNamespace, ...using.map((user) => user.metadata.namespace ?? fluxNamespace)]);
}
