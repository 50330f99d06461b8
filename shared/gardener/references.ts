import { apiVersionOf, resources } from '../kube/resource.ts';

/** Names an object of a namespace, as `spec.resources` of a Shoot and `status.resources` of an Extension do. */
export interface ResourceReference {
  /** Of the entry, not of the object. */
  name: string;
  resourceRef: { apiVersion: string; kind: string; name: string };
}

/**
 * Returns the copy in the control plane of an object that the Shoot's `spec.resources` names. It is named after the object,
 * not after the entry (rule 2.2, trap 32). A token is no copy: it is in a Secret that gardenlet renews in place.
 */
export function referenceCopy({ kind, name }: ResourceReference['resourceRef']) {
  if (kind === 'WorkloadIdentity') {
    return { resource: resources.secrets, name: `workload-identity-ref-${name}`, isToken: true };
  }
  const resource = kind === 'ConfigMap' ? resources.configMaps : resources.secrets;
  return { resource, name: `ref-${name}`, isToken: false };
}

/**
 * Returns the copies of these entries as an Extension lists them, so that they survive a control-plane migration. A token
 * is not listed: it would be stored in the garden, and gardenlet would replace the fresh token on the other seed with it
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

/** Returns the listed copies that the Shoot still refers to; Gardener is about to delete the others. */
export function stillCopied(
  listed: readonly ResourceReference[],
  entries: readonly ResourceReference[],
): ResourceReference[] {
  const text = ({ resourceRef: { kind, name } }: ResourceReference) => `${kind}/${name}`;
  const copies = new Set(listedCopies(entries).map(text));
  return listed.filter((reference) => copies.has(text(reference)));
}
