import type { KubeObject, ObjectName } from '../kube/resource.ts';

/** `Kind.group/namespace/name`; the namespace is empty for cluster-scoped objects, the group for core ones. */
export function objectRef(object: KubeObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : `.${object.apiVersion.slice(0, slash)}`;
  return `${object.kind}${group}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

/** What a ref says, `type` being `Kind.group`. */
export function parseRef(ref: string): { type: string; name: ObjectName } {
  const [type = '', namespace = '', name = ''] = ref.split('/');
  return { type, name: { ...(namespace && { namespace }), name } };
}
