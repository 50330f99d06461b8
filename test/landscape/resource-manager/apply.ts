import { errorMessage, isConflict, isInvalid, type KubeObject, type Resource } from '../client/client.ts';
import { injectLabels, type MergeOptions, mergeObject } from './merge.ts';
import { annotations, isTrue, MANAGED_BY, namedOf, objectKey, objectText } from './references.ts';
import { NoMatchError, type Target } from './target.ts';

/** An object of the ManagedResource, and how the status has described it since the last pass. */
export interface ObjectToApply {
  object: KubeObject;
  old: MergeOptions['old'];
}

const fieldManager = 'gardener-resource-manager';

/**
 * Applies the objects in install order by create or full update; the first error ends the pass. A pass does not see
 * objects that it created itself: the cache and the list of served kinds lag behind.
 * @throws Error with the message of the condition
 */
export async function applyAll(target: Target, objects: readonly ObjectToApply[], origin: string): Promise<void> {
  const created = new Set<string>();
  for (const { object, old } of inInstallOrder(objects)) {
    const key = objectKey(namedOf(object));
    const text = objectText(namedOf(object));
    try {
      const resource = await resourceOf(target, object, created);
      const live = created.has(key) ? undefined : await target.cached(resource, object.metadata);
      if (live === undefined) created.add(key);
      await write(target, resource, object, live, { origin, old });
    } catch (error) {
      if (error instanceof DeletedError || isConflict(error)) throw error;
      throw new Error(`error during apply of object "${text}": ${errorMessage(error)}`);
    }
  }
}

/** The object was deleted because it could not be updated; the next pass creates it. */
class DeletedError extends Error {}

async function write(
  { client }: Target,
  resource: Resource,
  object: KubeObject,
  live: KubeObject | undefined,
  options: MergeOptions,
): Promise<void> {
  const onlyCreate = isTrue(object.metadata.annotations, annotations.ignore);
  if (onlyCreate && live !== undefined) return;
  const merged = onlyCreate ? object : mergeObject(injectLabels(object, MANAGED_BY), live, options);
  if (live === undefined) {
    await client.create(resource, merged, { fieldManager });
    return;
  }
  try {
    await client.replace(resource, merged, { fieldManager });
  } catch (error) {
    const mayDelete = isTrue(merged.metadata.annotations, annotations.deleteOnInvalidUpdate);
    if (!isInvalid(error) || !(mayDelete || error.message.includes('field is immutable when `immutable` is set')))
      throw error;
    await client.delete(resource, object.metadata);
    const text = objectText(namedOf(object));
    throw new DeletedError(
      `deleted object "${text}" because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an immutable ConfigMap/Secret: ${errorMessage(error)}`,
    );
  }
}

async function resourceOf(target: Target, object: KubeObject, created: ReadonlySet<string>): Promise<Resource> {
  const resource = await target.resource(object.apiVersion, object.kind);
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const name = `${resource.plural}.${resource.group}`;
  if (created.has(objectKey({ ...crd, name }))) throw new NoMatchError(object.apiVersion, object.kind);
  return resource;
}

/** Helm's install order (rule 3.4), of the kinds that the landscape meets; others come last. */
const order = [
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
];

const rank = new Map(order.map((kind, index) => [kind, index]));

/** Returns the objects in install order; alphabetically among equals. */
export function inInstallOrder<T extends { object: KubeObject }>(entries: readonly T[]): T[] {
  const rankOf = ({ kind }: KubeObject) => rank.get(kind) ?? order.length;
  return [...entries].sort(
    ({ object: a }, { object: b }) =>
      rankOf(a) - rankOf(b) || compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name),
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
