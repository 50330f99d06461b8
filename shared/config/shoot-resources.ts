import { quote } from './quote.ts';
import { given, textOf } from './values.ts';

/** An entry of the Shoot's `spec.resources`; a text is empty where the entry does not say it. */
export interface ShootResource {
  name: string;
  apiVersion: string;
  kind: string;
  /** The object's own name. */
  resourceName: string;
}

/** Reads the Shoot's `spec.resources` from wherever it comes: a file and a request may hold anything. */
export function shootResourcesOf(resources: unknown): ShootResource[] {
  return (Array.isArray(resources) ? resources : []).map((entry) => {
    const resourceRef = given(given(entry)?.resourceRef);
    return {
      name: textOf(given(entry)?.name) ?? '',
      apiVersion: textOf(resourceRef?.apiVersion) ?? '',
      kind: textOf(resourceRef?.kind) ?? '',
      resourceName: textOf(resourceRef?.name) ?? '',
    };
  });
}

/** What Gardener brings to the control plane, by kind: exactly these API versions (facts/gardener.md 2.2). */
const copied = new Map([
  ['Secret', 'v1'],
  ['ConfigMap', 'v1'],
  ['WorkloadIdentity', 'security.gardener.cloud/v1alpha1'],
]);

/** What an entry is named for: a source reads credentials, anything else that is copied is for Flux or other pods. */
export type ResourceUse = 'credentials' | 'copy';

/** What is wrong with a reference to an entry of the Shoot's `spec.resources`. */
export function resourceProblem(
  name: string,
  use: ResourceUse,
  resources: readonly ShootResource[] | undefined,
): string | undefined {
  if (resources === undefined) return undefined;
  const entry = resources.find((resource) => resource.name === name);
  if (entry === undefined) {
    const known = resources.length === 0 ? 'it has no entries' : `it has ${resources.map((r) => r.name).join(', ')}`;
    return `${quote(name)} is not the name of an entry in the Shoot's spec.resources (${known}); add the entry or write the name of another`;
  }
  const { apiVersion, kind, resourceName } = entry;
  if (apiVersion === '' || kind === '' || resourceName === '') {
    return `${quote(name)} does not say in the Shoot's spec.resources which object it is; write its resourceRef with apiVersion, kind and name`;
  }
  const needed = copied.get(kind);
  if (use === 'credentials' && kind === 'WorkloadIdentity') {
    return `${quote(name)} is a WorkloadIdentity in the Shoot's spec.resources, whose token no source of Flux can read; write the name of a Secret's entry`;
  }
  if (use === 'credentials' && kind !== 'Secret') {
    return `${quote(name)} is a ${kind} in the Shoot's spec.resources, not a Secret; write the name of a Secret's entry`;
  }
  if (needed === undefined) {
    return `${quote(name)} is a ${kind} in the Shoot's spec.resources, which Gardener copies to no control plane; write the name of a Secret, a ConfigMap or a WorkloadIdentity`;
  }
  return apiVersion === needed
    ? undefined
    : `${quote(name)} is a ${kind} of ${apiVersion} in the Shoot's spec.resources, which Gardener does not copy; write apiVersion ${needed} there`;
}
