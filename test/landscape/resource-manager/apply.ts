import {
  type ApiError,
  errorMessage,
  isConflict,
  isInvalid,
  type KubeObject,
  type Resource,
} from '../client/client.ts';
import { inInstallOrder } from './install-order.ts';
import { injectLabels, type MergeOptions, mergeObject } from './merge.ts';
import { namedOf, objectKey, objectText } from './references.ts';
import { NoMatchError, type Target } from './target.ts';
import { annotations, isTrue } from './types.ts';

/** An object of the ManagedResource, and how the status has described it since the last pass. */
export interface ObjectToApply {
  object: KubeObject;
  old: MergeOptions['old'];
}

export interface ApplyOptions {
  origin: string;
  injectedLabels: Record<string, string>;
  forceOverwriteLabels: boolean;
  forceOverwriteAnnotations: boolean;
}

const fieldManager = 'gardener-resource-manager';

/**
 * Applies the objects in install order by create or full update; the first error ends the pass. A pass does not see
 * objects that it created itself: the cache and the list of served kinds lag behind.
 * @throws Error with the message of the condition
 */
export async function applyAll(
  target: Target,
  objects: readonly ObjectToApply[],
  options: ApplyOptions,
): Promise<void> {
  const scaled = await scaledObjects(target);
  const created = new Set<string>();
  for (const { object, old } of inInstallOrder(objects)) {
    const key = objectKey(namedOf(object));
    const text = objectText(namedOf(object));
    try {
      const resource = await resourceOf(target, object, created);
      const live = created.has(key) ? undefined : await target.cached(resource, object.metadata);
      if (live === undefined) created.add(key);
      await write(target, resource, object, live, { ...options, old, scaled: scaled.has(key) });
    } catch (error) {
      if (error instanceof DeletedError || isConflict(error)) throw error;
      throw new Error(`error during apply of object "${text}": ${errorMessage(error)}`);
    }
  }
}

/** The object was deleted because it could not be updated; the next pass creates it. */
class DeletedError extends Error {}

type WriteOptions = ApplyOptions & Pick<MergeOptions, 'old' | 'scaled'>;

async function write(
  target: Target,
  resource: Resource,
  object: KubeObject,
  live: KubeObject | undefined,
  options: WriteOptions,
): Promise<void> {
  const onlyCreate = isTrue(object.metadata.annotations, annotations.ignore);
  if (onlyCreate && live !== undefined) return;
  const labelled = onlyCreate ? object : injectLabels(object, options.injectedLabels);
  const merged = onlyCreate ? labelled : mergeObject(labelled, live, options);
  if (live === undefined) {
    await target.client.create(resource, merged, { fieldManager });
    return;
  }
  try {
    await target.client.replace(resource, merged, { fieldManager });
  } catch (error) {
    if (!isInvalid(error) || !mayDelete(merged, error)) throw error;
    await target.delete(resource, object.metadata);
    const text = objectText(namedOf(object));
    throw new DeletedError(
      `deleted object "${text}" because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an immutable ConfigMap/Secret: ${errorMessage(error)}`,
    );
  }
}

function mayDelete(object: KubeObject, error: ApiError): boolean {
  if (isTrue(object.metadata.annotations, annotations.deleteOnInvalidUpdate)) return true;
  const immutable = error.message.includes('field is immutable when `immutable` is set');
  return object.apiVersion === 'v1' && ['ConfigMap', 'Secret'].includes(object.kind) && immutable;
}

async function resourceOf(target: Target, object: KubeObject, created: ReadonlySet<string>): Promise<Resource> {
  const resource = await target.resource(object.apiVersion, object.kind);
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const name = `${resource.plural}.${resource.group}`;
  if (created.has(objectKey({ ...crd, name }))) throw new NoMatchError(object.apiVersion, object.kind);
  return resource;
}

interface Autoscaler extends KubeObject {
  spec?: { scaleTargetRef?: { apiVersion?: string; kind?: string; name?: string } };
}

/** Returns the keys of all objects that a HorizontalPodAutoscaler scales. */
async function scaledObjects(target: Target): Promise<Set<string>> {
  const resource = await target.served('autoscaling/v2', 'HorizontalPodAutoscaler');
  if (resource === undefined) return new Set();
  const { items } = await target.client.list<Autoscaler>(resource);
  return new Set(
    items.map(({ metadata, spec }) => {
      const { apiVersion = '', kind = '', name = '' } = spec?.scaleTargetRef ?? {};
      return objectKey({ apiVersion, kind, name, namespace: metadata.namespace });
    }),
  );
}
