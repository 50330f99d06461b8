import type { KubeObject, ObjectName } from '../../shared/kube/resource.ts';

/** Returns `Kind.group/namespace/name`; the namespace is empty for cluster-scoped objects, the group for core ones. */
export function objectRef(object: KubeObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : `.${object.apiVersion.slice(0, slash)}`;
  return `${object.kind}${group}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

/** Splits a ref; `type` is `Kind.group`. */
export function parseRef(ref: string): { type: string; name: ObjectName } {
  const [type = '', namespace = '', name = ''] = ref.split('/');
  return { type, name: { ...(namespace && { namespace }), name } };
}

/** Kinds whose objects delete what they have deployed when they are deleted themselves. */
export const pruningKinds: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** True for objects of Flux's own kinds: a controller of Flux has to remove their finalizers. */
export function isFluxRef(ref: string): boolean {
  return /^\w+\.[\w.]+\.fluxcd\.io\//.test(ref);
}

/** True for objects that must be suspended before they are deleted, or Flux deletes their workloads as well. */
export function isPruningRef(ref: string): boolean {
  return isFluxRef(ref) && pruningKinds.has(ref.split('.')[0] ?? '');
}

/** True for a Kustomization or HelmRelease that Flux deletes without deleting what it has deployed. */
export function isSuspended(object: KubeObject): boolean {
  return (object.spec as { suspend?: boolean } | undefined)?.suspend === true;
}
