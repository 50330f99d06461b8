import { type ApiObject, asArray, asObject, withKey } from './json.ts';
import type { Registry } from './registry.ts';
import type { ResourceStore } from './store.ts';

/** Empties and removes namespaces that are being deleted, as kube-controller-manager does. */
export function startNamespaceController(registry: Registry) {
  const namespaces = registry.get('', 'v1', 'namespaces').store;
  const timers = new Set<NodeJS.Timeout>();
  const later = (name: string, ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      sweep(name);
    }, ms);
    timer.unref();
    timers.add(timer);
  };
  const sweep = (name: string) => {
    const namespace = namespaces.get(name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    if (deleteContents(registry, name) > 0) {
      later(name, 100);
      return;
    }
    const finalizers = asArray(asObject(namespace.spec).finalizers).filter((finalizer) => finalizer !== 'kubernetes');
    const spec = withKey(asObject(namespace.spec), 'finalizers', finalizers.length === 0 ? undefined : finalizers);
    const done: ApiObject = { ...namespace, spec };
    if (finalizers.length === 0 && (namespace.metadata.finalizers ?? []).length === 0) namespaces.remove(name, done);
    else if (asArray(asObject(namespace.spec).finalizers).length !== finalizers.length) namespaces.put(name, done);
  };
  const unsubscribe = namespaces.subscribe((event) => {
    if (event.type !== 'DELETED' && event.object.metadata.deletionTimestamp !== undefined) later(event.key, 0);
  });
  return {
    /** Looks for namespaces that are being deleted: objects have changed without events. */
    resume() {
      for (const [name, { metadata }] of namespaces.range('', '', namespaces.revision)) {
        if (metadata.deletionTimestamp !== undefined) later(name, 0);
      }
    },
    stop() {
      unsubscribe();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Deletes the objects in a namespace. @returns how many objects are left */
function deleteContents(registry: Registry, namespace: string): number {
  let left = 0;
  const stores = new Set(
    registry
      .all()
      .filter(({ namespaced }) => namespaced)
      .map(({ store }) => store),
  );
  for (const store of stores) {
    for (const [key, object] of [...store.range(`${namespace}/`, '', store.revision)]) {
      if (!store.dismiss(key, object)) left++;
    }
  }
  return left;
}

/** Ends foreground deletion, as kube-controller-manager does for objects without dependents: the landscape has no others. */
export function startGarbageCollector(registry: Registry): void {
  for (const { store } of registry.all()) {
    store.subscribe(({ type, key, object: { metadata } }) => {
      const isWaiting = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('foregroundDeletion');
      if (type !== 'DELETED' && isWaiting) queueMicrotask(() => release(store, key));
    });
  }
}

function release(store: ResourceStore, key: string): void {
  const live = store.get(key);
  if (live === undefined) return;
  const left = (live.metadata.finalizers ?? []).filter((finalizer) => finalizer !== 'foregroundDeletion');
  const done = { ...live, metadata: { ...live.metadata, finalizers: left } };
  if (left.length === 0) store.remove(key, done);
  else store.put(key, done);
}
