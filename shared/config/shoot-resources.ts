import { quote, truncate } from './quote.ts';
import { asObject, asString } from './values.ts';

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
    const resourceRef = asObject(asObject(entry)?.resourceRef);
    return {
      name: asString(asObject(entry)?.name) ?? '',
      apiVersion: asString(resourceRef?.apiVersion) ?? '',
      kind: asString(resourceRef?.kind) ?? '',
      resourceName: asString(resourceRef?.name) ?? '',
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
  return entryProblem(
    name,
    use,
    resources.find((resource) => resource.name === name),
    resources,
  );
}

/** The same for whoever has found the entry. */
export function entryProblem(
  name: string,
  use: ResourceUse,
  entry: ShootResource | undefined,
  resources: readonly ShootResource[],
): string | undefined {
  if (entry === undefined) {
    return `${quote(name)} is not an entry of the Shoot's spec.resources (${known(resources)}); add the entry or use another one`;
  }
  const { resourceName } = entry;
  const [apiVersion, kind] = [truncate(entry.apiVersion), truncate(entry.kind)];
  if (apiVersion === '' || kind === '' || resourceName === '') {
    return `${quote(name)} has an incomplete resourceRef in the Shoot's spec.resources; set its apiVersion, kind and name`;
  }
  const needed = copied.get(kind);
  if (use === 'credentials' && kind === 'WorkloadIdentity') {
    return `${quote(name)} is a WorkloadIdentity in the Shoot's spec.resources, whose token Flux sources cannot read; use an entry that refers to a Secret`;
  }
  if (use === 'credentials' && kind !== 'Secret') {
    return `${quote(name)} is a ${kind} in the Shoot's spec.resources, not a Secret; use an entry that refers to a Secret`;
  }
  if (needed === undefined) {
    return `${quote(name)} is a ${kind} in the Shoot's spec.resources, which Gardener does not copy to the control plane; use a Secret, a ConfigMap or a WorkloadIdentity`;
  }
  return apiVersion === needed
    ? undefined
    : `${quote(name)} is a ${kind} of ${apiVersion} in the Shoot's spec.resources, which Gardener does not copy; set apiVersion ${needed} there`;
}

/** How many names an error shows. */
const MOST = 10;

function known(resources: readonly ShootResource[]): string {
  if (resources.length === 0) return 'which is empty';
  const names = resources.slice(0, MOST).map(({ name }) => truncate(name));
  const more = resources.length > MOST ? ` and ${resources.length - MOST} more` : '';
  return `it has ${names.join(', ')}${more}`;
}
