import type { KubeObject } from '../client/client.ts';
import type { Condition, ManagedResource } from '../gardener/types.ts';

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

/** An entry of `status.resources`: an object, and the labels and annotations it was applied with. */
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A ManagedResource with the status that only the resource-manager reads. */
export interface FullManagedResource extends ManagedResource {
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    resources?: ObjectReference[];
    secretsDataChecksum?: string;
  };
}

export const annotations = {
  deleteOnInvalidUpdate: 'resources.gardener.cloud/delete-on-invalid-update',
  ignore: 'resources.gardener.cloud/ignore',
  keepObject: 'resources.gardener.cloud/keep-object',
  skipHealthCheck: 'resources.gardener.cloud/skip-health-check',
  origin: 'resources.gardener.cloud/origin',
  description: 'resources.gardener.cloud/description',
} as const;

export const FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';
export const MANAGED_BY = { 'resources.gardener.cloud/managed-by': 'gardener' };

/** Returns whether an annotation is true, as Go's ParseBool reads it. */
export function isTrue(entries: Record<string, string> | undefined, key: string): boolean {
  return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(entries?.[key] ?? '');
}
