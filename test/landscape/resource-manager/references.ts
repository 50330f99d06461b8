import type { KubeObject } from '../client/client.ts';
import { MANAGED_BY, type ObjectReference } from './types.ts';

interface Named {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
}

export const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Returns `group/kind/namespace/name`: the identity of an object in any version. */
export function objectKey(reference: Named): string {
  return [groupOf(reference.apiVersion), reference.kind, shownNamespace(reference), reference.name].join('/');
}

/** Returns `apiVersion/kind/namespace/name`, as messages name objects; without a namespace they show `default`. */
export function objectText(reference: Named): string {
  return [reference.apiVersion, reference.kind, shownNamespace(reference), reference.name].join('/');
}

function shownNamespace({ kind, namespace }: Named): string {
  return namespace || (kind === 'Namespace' ? '' : 'default');
}

export function namedOf({ apiVersion, kind, metadata }: KubeObject): Named {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

/** Returns the entry of `status.resources` for an object of the set. */
export function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, labels, annotations } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(namespace ? { namespace } : {}),
    labels: { ...labels, ...MANAGED_BY },
    ...(annotations && Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

/** Sorts the entries: the status must not change with every pass. */
export function sortReferences(references: ObjectReference[]): ObjectReference[] {
  return references.sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : objectKey(a) > objectKey(b) ? 1 : 0));
}
