import { apiVersionOf, type Resource, resources } from '../kube/resource.ts';

/** Names an object of a namespace, as `spec.resources` of a Shoot and `status.resources` of an Extension do. */
export interface ResourceReference {
  /** Of the entry, not of the object. */
  name: string;
  resourceRef: { apiVersion: string; kind: string; name: string };
}

/** What Gardener makes in the control plane of an object that the Shoot's `spec.resources` names. */
export interface ReferenceCopy {
  resource: Resource;
  name: string;
  /** True: a Secret with a token that is renewed in place, and no copy of anything. */
  isToken: boolean;
}

/** Named after the object, not after the entry (facts/gardener.md 2.2, trap 32). */
export function referenceCopy({ kind, name }: ResourceReference['resourceRef']): ReferenceCopy {
  if (kind === 'WorkloadIdentity') {
    return { resource: resources.secrets, name: `workload-identity-ref-${name}`, isToken: true };
  }
  const resource = kind === 'ConfigMap' ? resources.configMaps : resources.secrets;
  return { resource, name: `ref-${name}`, isToken: false };
}

/**
 * The copies of these entries as an Extension lists them, so that they survive a control-plane migration. A token is not
 * listed: it would be stored in the garden, and gardenlet would put it over the fresh one that the other seed has by then
 * (decision 22).
 */
export function listedCopies(entries: readonly ResourceReference[]): ResourceReference[] {
  return entries.flatMap(({ name, resourceRef }) => {
    const copy = referenceCopy(resourceRef);
    const { resource } = copy;
    const listed = { apiVersion: apiVersionOf(resource), kind: resource.kind, name: copy.name };
    return copy.isToken ? [] : [{ name, resourceRef: listed }];
  });
}

/** Those of the listed copies that the Shoot still asks Gardener for; the others are about to go. */
export function stillCopied(
  listed: readonly ResourceReference[],
  entries: readonly ResourceReference[],
): ResourceReference[] {
  const text = ({ resourceRef: { kind, name } }: ResourceReference) => `${kind}/${name}`;
  const copies = new Set(listedCopies(entries).map(text));
  return listed.filter((reference) => copies.has(text(reference)));
}
