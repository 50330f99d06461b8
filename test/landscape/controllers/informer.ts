import { setTimeout as sleep } from 'node:timers/promises';
import { isGone, type KubeClient, type KubeObject, type Resource } from '../client/client.ts';
import { objectText } from './work-queue.ts';

/** Callbacks of an informer; `old` is undefined for a new object. */
export interface Handlers<T extends KubeObject> {
  onChange?(object: T, old: T | undefined): void;
  onDelete?(object: T): void;
}

export interface Informer<T extends KubeObject> {
  /** Resolves after the first complete list. */
  synced: Promise<void>;
  /** By `namespace/name`, or `name` for cluster-scoped objects. */
  objects: ReadonlyMap<string, T>;
  /** Resolves when the watch has ended after `signal`. */
  stopped: Promise<void>;
}

export interface InformerOptions {
  namespace?: string | undefined;
  labelSelector?: string;
  signal: AbortSignal;
}

/** Lists and watches one resource until the signal aborts, as the controllers of Kubernetes do. */
export function startInformer<T extends KubeObject = KubeObject>(
  client: KubeClient,
  resource: Resource,
  options: InformerOptions,
  handlers: Handlers<T> = {},
): Informer<T> {
  const { signal, ...selection } = options;
  const objects = new Map<string, T>();
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();

  const keep = (object: T) => {
    const key = objectText(object.metadata);
    const old = objects.get(key);
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    objects.set(key, object);
    handlers.onChange?.(object, old);
  };
  const drop = (object: T) => {
    if (objects.delete(objectText(object.metadata))) handlers.onDelete?.(object);
  };

  const list = async () => {
    const { items, resourceVersion } = await client.list<T>(resource, selection);
    const present = new Set(items.map(({ metadata }) => objectText(metadata)));
    for (const [key, object] of [...objects]) if (!present.has(key)) drop(object);
    for (const item of items) keep(item);
    onSynced();
    return resourceVersion;
  };

  const watch = async (from: string) => {
    let resourceVersion = from;
    const request = { ...selection, timeoutSeconds: 300, signal };
    while (!signal.aborted) {
      for await (const { type, object } of client.watch(resource, { ...request, resourceVersion })) {
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type === 'DELETED') drop(object as T);
        else if (type !== 'BOOKMARK') keep(object as T);
      }
      await sleep(10, undefined, { signal }).catch(() => {});
    }
  };

  const run = async () => {
    while (!signal.aborted) {
      try {
        await watch(await list());
      } catch (error) {
        // The resource may not be served yet.
        if (!isGone(error)) await sleep(200, undefined, { signal }).catch(() => {});
      }
    }
  };
  return { synced, objects, stopped: run() };
}
