import { objectName } from './checks.ts';
import { firstOf, quote, shown } from './quote.ts';
import type { CopiedSecret } from './types.ts';
import { asObject, asString } from './values.ts';

/** An entry of the Shoot's `spec.resources`; missing fields are empty strings. */
export interface ShootResource {
  name: string;
  apiVersion: string;
  kind: string;
  /** The object's own name. */
  resourceName: string;
}

/** Reads the Shoot's `spec.resources` without trusting its form: files and requests may contain anything. */
export function shootResourcesOf(resources: unknown): ShootResource[] {
  return (Array.isArray(resources) ? resources : []).flatMap((entry) => {
    const { name, resourceRef } = asObject(entry) ?? {};
    const { apiVersion, kind, name: resourceName } = asObject(resourceRef) ?? {};
    // Nothing can refer to an entry without a name, and a request has room for half a million of them.
    if (typeof name !== 'string' || name === '') return [];
    const [api = '', ofKind = '', own = ''] = [apiVersion, kind, resourceName].map(asString);
    return [{ name, apiVersion: api, kind: ofKind, resourceName: own }];
  });
}

/** The entries by their names: a Shoot has room for twenty thousand. Undefined: unknown. */
export type ShootResources = ReadonlyMap<string, ShootResource> | undefined;

/** Returns the entries by their names; the first one of a name counts. */
export function resourcesByName(resources: readonly ShootResource[]): ShootResources {
  const byName = new Map<string, ShootResource>();
  for (const resource of resources) if (!byName.has(resource.name)) byName.set(resource.name, resource);
  return byName;
}

/** The kinds that Flux objects refer to and that are copied into the shoot for them. */
export type CopyKind = 'Secret' | 'ConfigMap';

/** Returns what a copy is in the shoot: a WorkloadIdentity is a Secret there, and a name that nothing says is undefined. */
export function copyInShoot(
  { origin, targetName }: Pick<CopiedSecret, 'origin' | 'targetName'>,
  resources: ShootResources,
): { kind: CopyKind; name: string | undefined } {
  const entry = origin.type === 'resource' ? resources?.get(origin.resourceName) : undefined;
  const ownName = entry?.resourceName === '' ? undefined : entry?.resourceName;
  return { kind: entry?.kind === 'ConfigMap' ? 'ConfigMap' : 'Secret', name: targetName ?? ownName };
}

/** Gardener copies these kinds to the control plane, and only in these API versions (rule 2.2). */
const copiedKinds = new Map([
  ['Secret', 'v1'],
  ['ConfigMap', 'v1'],
  ['WorkloadIdentity', 'security.gardener.cloud/v1alpha1'],
]);

/** Why the configuration refers to an entry: for the source's credentials, or to copy it for Flux or other pods. */
type ResourceUse = 'credentials' | 'copy';

/** Returns what is wrong with a reference to an entry of the Shoot's `spec.resources`. */
export function resourceProblem(name: string, use: ResourceUse, resources: ShootResources): string | undefined {
  if (resources === undefined) return undefined;
  const entry = resources.get(name);
  if (entry === undefined) {
    return `${quote(name)} is not an entry of the Shoot's spec.resources (${namesOf([...resources.keys()])}); add the entry or use another one`;
  }
  const { apiVersion, kind, resourceName } = entry;
  if (apiVersion === '' || kind === '' || resourceName === '') {
    return `${quote(name)} has an incomplete resourceRef in the Shoot's spec.resources; set its apiVersion, kind and name`;
  }
  const needed = copiedKinds.get(kind);
  if (use === 'credentials' && kind === 'WorkloadIdentity') {
    return `${quote(name)} is a WorkloadIdentity in the Shoot's spec.resources, and Flux sources cannot use its token; use an entry that refers to a Secret`;
  }
  if (use === 'credentials' && kind !== 'Secret') {
    return `${quote(name)} is a ${shown(kind)} in the Shoot's spec.resources, not a Secret; use an entry that refers to a Secret`;
  }
  if (needed === undefined) {
    return `${quote(name)} is a ${shown(kind)} in the Shoot's spec.resources, which Gardener does not copy to the control plane; use a Secret, a ConfigMap or a WorkloadIdentity`;
  }
  if (apiVersion !== needed) {
    return `${quote(name)} is a ${kind} of ${shown(apiVersion)} in the Shoot's spec.resources, which Gardener does not copy; set apiVersion ${needed} there`;
  }
  // It becomes part of requests and of the status, and a Shoot has room for a megabyte of it.
  const nameProblem = objectName(resourceName);
  return nameProblem && `${quote(name)} has a wrong resourceRef in the Shoot's spec.resources: its name ${nameProblem}`;
}

function namesOf(names: readonly string[]): string {
  if (names.length === 0) return 'which is empty';
  const { named, more } = firstOf(names, shown);
  return `it has ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
