import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Complete } from './complete.ts';
import { secretUses } from './listed/secret-uses.ts';
import { issueAt } from './origins.ts';
import { projectSecretNames } from './project-config.ts';
import type { ProjectSecrets } from './project-secrets.ts';
import { quote } from './quote.ts';
import { type CopyKind, copyInShoot, resourceProblem, resourcesByName } from './shoot-resources.ts';
import type { CopiedSecret, FluxInstall } from './types.ts';

/** ConfigMaps that the product itself writes into the flux namespace. */
export const OWN_CONFIG_MAPS = ['shoot-info', 'shoot-facts'];

/**
 * Returns the copies besides the source's credentials, and at the end those of the project: each in the flux namespace,
 * where users expect it, and in the namespace of every source or Kustomization that refers to it, because Flux reads it
 * only there.
 */
export function additionalSecrets(
  config: Complete,
  project: ProjectSecrets,
): { secrets: CopiedSecret[]; issues: ConfigIssue[] } {
  const issues: ConfigIssue[] = [];
  const secrets: CopiedSecret[] = [];
  const { content, flux, source, kustomization, objects, sourceSecret, pullSecret, shootResources } = config;
  const fluxNamespace = flux.namespace;
  // Collected once, because a template may have thousands of fields.
  const users = [source, kustomization, ...objects]
    .filter((user) => user !== undefined)
    .map((user) => ({ namespace: user.metadata.namespace ?? fluxNamespace, names: namesIn(user) }));
  const byName = resourcesByName(shootResources);
  const taken = new Map<string, string>(
    OWN_CONFIG_MAPS.map((name) => [`ConfigMap ${fluxNamespace}/${name}`, "the ConfigMap with the Shoot's facts"]),
  );
  const own = [
    { copy: sourceSecret, what: "the source's credentials" },
    { copy: pullSecret, what: "the landscape's pull secret" },
  ];
  for (const { copy, what } of own) if (copy) taken.set(`Secret ${copy.namespace}/${copy.targetName}`, what);
  for (const { name, targetName, place: entryPlace } of content.additionalSecrets ?? []) {
    const issue = (field: string, message: string) => issues.push(issueAt(entryPlace, field, message));
    // The schema reports a missing name.
    const problem = name === '' ? undefined : resourceProblem(name, 'copy', shootResources, byName);
    if (problem !== undefined) issue('name', problem);
    const origin = { type: 'resource' as const, resourceName: name };
    const { kind, name: target } = copyInShoot({ origin, targetName }, byName);
    // Without the Shoot the object's own name is unknown, but two references to one entry still collide.
    const placeName = target ?? `entry ${name}`;
    for (const namespace of namespacesOf(kind, target, fluxNamespace, users)) {
      const place = `${kind} ${namespace}/${placeName}`;
      const owner = name === '' && target === undefined ? undefined : taken.get(place);
      if (owner !== undefined) {
        const message = `${quote(target ?? name)} in namespace ${namespace} is already taken by ${owner}; use another targetName`;
        issue(targetName === undefined ? 'name' : 'targetName', message);
        break;
      }
      taken.set(place, entryPlace.path);
      secrets.push({ origin, targetName, namespace });
    }
  }
  return { secrets: [...secrets, ...projectCopies(flux, project, users, new Set(taken.keys()))], issues };
}

/** Returns the copies of the project's Secrets. A copy that the configuration asks for under the same name replaces one. */
function projectCopies(
  flux: FluxInstall,
  project: ProjectSecrets,
  users: readonly User[],
  taken: ReadonlySet<string>,
): CopiedSecret[] {
  return projectSecretNames
    .filter((name) => project.names.has(name))
    .flatMap((name) => {
      const using = users.filter(({ names }) => names.has(`Secret ${name}`)).map(({ namespace }) => namespace);
      const isForFlux = project.areWired || flux.imagePullSecret === name;
      return [...new Set([...(isForFlux ? [flux.namespace] : []), ...using])]
        .filter((namespace) => !taken.has(`Secret ${namespace}/${name}`))
        .map((namespace) => ({ origin: { type: 'project' as const, name }, targetName: name, namespace }));
    });
}

/** An object, and what it refers to: for example `Secret sops-age`. */
interface User {
  namespace: string;
  names: ReadonlySet<string>;
}

function namesIn(object: KubeObject): ReadonlySet<string> {
  return new Set(secretUses(object).map(({ kind, name }) => `${kind} ${name}`));
}

function namespacesOf(
  kind: CopyKind,
  target: string | undefined,
  fluxNamespace: string,
  users: readonly User[],
): Set<string> {
  const using = users.filter(({ names }) => target !== undefined && names.has(`${kind} ${target}`));
  return new Set([fluxNamespace, ...using.map(({ namespace }) => namespace)]);
}
