import { isDeepStrictEqual } from 'node:util';
import type { ConfigIssue } from '../errors.ts';
import { configuredObjects } from './listed/links.ts';
import { secretUses } from './listed/secret-uses.ts';
import { issueAt } from './origins.ts';
import { FLUX_REGISTRY, FLUX_REGISTRY_CA, projectSecretNames } from './project-config.ts';
import type { ProjectSecrets } from './project-secrets.ts';
import { quote } from './quote.ts';
import { copyInShoot, resourceProblem } from './shoot-resources.ts';
import type { Complete, CopiedSecret, FluxInstall, PlacedSecret } from './types.ts';

/** ConfigMaps that the product itself writes into the flux namespace. */
export const OWN_CONFIG_MAPS = ['shoot-info', 'shoot-facts'];

/**
 * Returns the copies besides the source's credentials: what the Shoot asks for, the Secrets of the project, and the
 * credentials of other sources. The first two are in the flux namespace, where users expect them, and in the namespace of
 * every object that refers to them, because Flux reads them only there.
 */
export function additionalSecrets(
  config: Complete,
  project: ProjectSecrets,
): { secrets: CopiedSecret[]; issues: ConfigIssue[] } {
  const issues: ConfigIssue[] = [];
  const { content, flux, sourceSecret, listedSecrets, pullSecret, shootResources } = config;
  const secrets: CopiedSecret[] = [];
  const taken = new Map<string, string>(
    OWN_CONFIG_MAPS.map((name) => [`ConfigMap ${flux.namespace}/${name}`, "the ConfigMap with the Shoot's facts"]),
  );
  /** Returns why a copy cannot have its name. */
  const take = (copy: CopiedSecret, owner: string): string | undefined => {
    const { kind, name } = copyInShoot(copy, shootResources);
    // Without the Shoot the object's own name is unknown, but two references to one entry still collide.
    const entry = copy.origin.type === 'resource' ? copy.origin.resourceName : '';
    const place = `${kind} ${copy.namespace}/${name ?? `entry ${entry}`}`;
    const other = taken.get(place);
    taken.set(place, other ?? owner);
    return other && `${quote(name ?? entry)} in namespace ${copy.namespace} is already taken by ${other}; use another`;
  };
  const takeCredentials = ({ secret, place }: PlacedSecret, owner: string) => {
    const { origin } = secret;
    const ofEntry = origin.type === 'resource' && resourceProblem(origin.resourceName, 'credentials', shootResources);
    if (ofEntry)
      issues.push({ ...place, path: place.path.replace(/template$/, 'secretResourceName'), message: ofEntry });
    // What is copied for another reason anyway may be used.
    const problem = secrets.some((copy) => isDeepStrictEqual(copy, secret)) ? undefined : take(secret, owner);
    if (problem !== undefined) issues.push(issueAt(place, 'spec.secretRef.name', `${problem} name`));
  };
  if (pullSecret) take(pullSecret, "the landscape's pull secret");
  if (sourceSecret) takeCredentials(sourceSecret, "the source's credentials");
  // Collected once, because a template may have thousands of fields.
  const users = configuredObjects(config).map(({ object }): User => {
    const names = secretUses(object).map(({ kind, name }) => `${kind} ${name}`);
    return { namespace: object.metadata.namespace ?? flux.namespace, names: new Set(names) };
  });
  for (const { name, targetName, place } of content.additionalSecrets ?? []) {
    // The schema reports a missing name.
    if (name === '') continue;
    const problem = resourceProblem(name, 'copy', shootResources);
    if (problem !== undefined) issues.push(issueAt(place, 'name', problem));
    const origin = { type: 'resource' as const, resourceName: name };
    const { kind, name: inShoot } = copyInShoot({ origin, targetName }, shootResources);
    const using = users.filter(({ names }) => inShoot !== undefined && names.has(`${kind} ${inShoot}`));
    for (const namespace of new Set([flux.namespace, ...using.map((user) => user.namespace)])) {
      const copy = { origin, targetName, namespace };
      const problem = take(copy, place.path);
      if (problem !== undefined) {
        issues.push(issueAt(place, targetName === undefined ? 'name' : 'targetName', `${problem} targetName`));
        break;
      }
      secrets.push(copy);
    }
  }
  const ofProject = projectCopies(flux, project, users, taken);
  for (const copy of ofProject) take(copy, `the project's ${copy.targetName}`);
  for (const one of listedSecrets) takeCredentials(one, one.place.path);
  return { secrets: [...secrets, ...ofProject, ...listedSecrets.map(({ secret }) => secret)], issues };
}

/** Returns the copies of the project's Secrets. A copy that the configuration asks for under the same name replaces one. */
function projectCopies(
  flux: FluxInstall,
  project: ProjectSecrets,
  users: readonly User[],
  taken: ReadonlyMap<string, unknown>,
): CopiedSecret[] {
  const originals = projectSecretNames.filter((name) => project.names.has(name));
  const certificates = project.hasCertificate ? [{ name: FLUX_REGISTRY, targetName: FLUX_REGISTRY_CA } as const] : [];
  return [...originals.map((name) => ({ name, targetName: name })), ...certificates].flatMap(({ name, targetName }) => {
    const using = users.filter(({ names }) => names.has(`Secret ${targetName}`)).map(({ namespace }) => namespace);
    const isForFlux = project.areWired || flux.imagePullSecret === targetName;
    return [...new Set([...(isForFlux ? [flux.namespace] : []), ...using])]
      .filter((namespace) => !taken.has(`Secret ${namespace}/${targetName}`))
      .map((namespace) => ({ origin: { type: 'project' as const, name }, targetName, namespace }));
  });
}

/** An object, and what it refers to: for example `Secret sops-age`. */
interface User {
  namespace: string;
  names: ReadonlySet<string>;
}
