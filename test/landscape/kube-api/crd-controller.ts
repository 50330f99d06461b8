import { cleanupFinalizer, establishedStatus, terminatingStatus } from './crd.ts';
import { decodeManagers, encodeManagers, own } from './fields/managed-fields.ts';
import { type ApiObject, asObject, asString, equal, type JsonObject, withKey } from './json.ts';
import type { Registry } from './registry.ts';
import { now } from './time.ts';

/** Establishes CRDs, and deletes the custom resources of CRDs that are being deleted. */
export function startCrdController(registry: Registry): void {
  const definition = registry.get('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  const crds = definition.store;
  const instancesOf = (crd: ApiObject) => {
    const spec = asObject(crd.spec);
    return registry.store(asString(spec.group), asString(asObject(spec.names).plural));
  };
  const withStatus = (crd: ApiObject, status: JsonObject): ApiObject => {
    const writer = { manager: 'kube-apiserver', apiVersion: crd.apiVersion, subresource: 'status' };
    const { managedFields, ...metadata } = crd.metadata;
    const old = { ...crd, metadata };
    const change = { old, now: { ...old, status }, ignored: undefined, time: now() };
    const managers = own(decodeManagers(managedFields), writer, definition.schema, change);
    return { ...crd, status, metadata: { ...crd.metadata, managedFields: encodeManagers(managers) } };
  };
  const settle = (name: string) => {
    const crd = crds.get(name);
    if (crd === undefined) return;
    if (crd.metadata.deletionTimestamp !== undefined) {
      cleanUp(crd);
      return;
    }
    const status = establishedStatus(crd);
    if (!equal(crd.status, status)) crds.put(name, withStatus(crd, status));
  };
  const watched = new Set<string>();
  const cleanUp = (crd: ApiObject) => {
    const { name } = crd.metadata;
    const progress = terminatingStatus(crd, 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
    if (!JSON.stringify(crd.status).includes('InstanceDeletionInProgress')) {
      crds.put(name, withStatus(crd, progress));
      return;
    }
    const instances = instancesOf(crd);
    for (const object of [...instances.values()]) {
      const { namespace, name } = object.metadata;
      instances.dismiss(namespace === undefined ? name : `${namespace}/${name}`, object);
    }
    if (instances.size === 0) {
      const left = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
      const done = { ...crd, metadata: withKey(crd.metadata, 'finalizers', left.length === 0 ? undefined : left) };
      if (left.length === 0) crds.remove(name, done);
      else if (left.length !== crd.metadata.finalizers?.length) crds.put(name, done);
      return;
    }
    if (watched.has(name)) return;
    watched.add(name);
    const unsubscribe = instances.subscribe(() => {
      if (instances.size > 0) return;
      unsubscribe();
      watched.delete(name);
      settle(name);
    });
  };
  crds.subscribe((event) => {
    if (event.type !== 'DELETED') queueMicrotask(() => settle(event.key));
  });
}
