import type { KubeObject } from '../kube/resource.ts';

/** `Kind.group/namespace/name`; the namespace is empty for cluster-scoped objects, the group for core ones. */
export function objectRef(object: KubeObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : `.${object.apiVersion.slice(0, slash)}`;
  return `${object.kind}${group}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}
