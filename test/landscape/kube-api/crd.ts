import type { Definition } from './call.ts';
import { type FieldError, fieldError } from './errors.ts';
import { decodeManagers, encodeManagers, own } from './fields/managed-fields.ts';
import { type ApiObject, asArray, asObject, asString, equal, isObject, type JsonObject, withKey } from './json.ts';
import type { Registry } from './registry.ts';
import { customSchema } from './schema.ts';
import type { ResourceStore } from './store.ts';
import { now } from './time.ts';

/** The finalizer that keeps a CRD until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

const strings = (value: JsonObject[string]) => asArray(value).map(String);

/** Returns the definitions of all served versions, the preferred one first. */
export function customDefinitions(crd: ApiObject, store: ResourceStore): Definition[] {
  const spec = asObject(crd.spec);
  const names = asObject(spec.names);
  const kind = asString(names.kind);
  return versions(crd)
    .filter(({ served }) => served === true)
    .sort((one, other) => comparePriority(asString(one.name), asString(other.name)))
    .map((version) => ({
      group: asString(spec.group),
      version: asString(version.name),
      plural: asString(names.plural),
      singular: asString(names.singular) || kind.toLowerCase(),
      kind,
      listKind: asString(names.listKind) || `${kind}List`,
      namespaced: spec.scope === 'Namespaced',
      status: isObject(asObject(version.subresources).status),
      generation: true,
      custom: true,
      storedAs: `${asString(spec.group)}/${storageVersion(crd)}`,
      terminating: crd.metadata.deletionTimestamp !== undefined,
      schema: customSchema(asObject(version.schema).openAPIV3Schema as JsonObject | undefined),
      store,
    }));
}

function versions(crd: ApiObject): JsonObject[] {
  return asArray(asObject(crd.spec).versions).filter(isObject);
}

function storageVersion(crd: ApiObject): string {
  return asString(versions(crd).find(({ storage }) => storage === true)?.name);
}

/** Sorts GA before beta before alpha. */
function comparePriority(one: string, other: string): number {
  const rank = (version: string) => (version.includes('alpha') ? 2 : version.includes('beta') ? 1 : 0);
  return rank(one) - rank(other) || (one < other ? 1 : -1);
}

/** Returns a CRD with the names and defaults that the API server fills in. */
export function withCrdDefaults(crd: ApiObject): ApiObject {
  const spec = asObject(crd.spec);
  const names = asObject(spec.names);
  const kind = asString(names.kind);
  return {
    ...crd,
    spec: {
      ...spec,
      conversion: spec.conversion ?? { strategy: 'None' },
      names: { ...names, singular: names.singular ?? kind.toLowerCase(), listKind: names.listKind ?? `${kind}List` },
    },
  };
}

/** Objects may be stored in these versions, so none of them may disappear. */
export function crdErrors(crd: ApiObject): FieldError[] {
  const names = versions(crd).map(({ name }) => asString(name));
  return strings(asObject(crd.status).storedVersions).flatMap((stored, index) => {
    const reason = `is missing from spec.versions, and objects may be stored in ${stored}`;
    return names.includes(stored) ? [] : [fieldError.invalid(`status.storedVersions[${index}]`, stored, reason)];
  });
}

/** Returns the status of a new CRD. */
export function initialStatus(crd: ApiObject): JsonObject {
  return { acceptedNames: { kind: '', plural: '' }, conditions: [], storedVersions: [storageVersion(crd)] };
}

/** Returns the status of a CRD that is being deleted. */
export function terminatingStatus(crd: ApiObject, reason: string, message: string): JsonObject {
  const status = asObject(crd.status);
  const others = asArray(status.conditions).filter((other) => isObject(other) && other.type !== 'Terminating');
  const condition: JsonObject = { lastTransitionTime: now(), message, reason, status: 'True', type: 'Terminating' };
  return { ...status, conditions: [...others, condition] };
}

/** Returns the status of a CRD with accepted names and served objects. */
export function establishedStatus(crd: ApiObject): JsonObject {
  const status = asObject(crd.status);
  const stored = strings(status.storedVersions);
  const storage = storageVersion(crd);
  const condition = (type: string, reason: string, message: string): JsonObject => {
    const known = asArray(status.conditions).find((other) => isObject(other) && other.type === type);
    return isObject(known) && known.status === 'True'
      ? known
      : { lastTransitionTime: now(), message, reason, status: 'True', type };
  };
  const others = asArray(status.conditions).filter(
    (other) => isObject(other) && other.type !== 'NamesAccepted' && other.type !== 'Established',
  );
  return {
    acceptedNames: asObject(crd.spec).names ?? {},
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ...others,
    ],
    storedVersions: stored.includes(storage) ? stored : [...stored, storage],
  };
}

/**
 * Establishes CRDs, and deletes the custom resources of CRDs that are being deleted.
 * @returns a function that looks at all CRDs anew: objects have changed without events
 */
export function startCrdController(registry: Registry): () => void {
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
  /** By the CRD's name: ends the wait for its instances. */
  const waits = new Map<string, () => void>();
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
    if (waits.has(name)) return;
    const unsubscribe = instances.subscribe(() => {
      if (instances.size > 0) return;
      unsubscribe();
      waits.delete(name);
      settle(name);
    });
    waits.set(name, unsubscribe);
  };
  crds.subscribe((event) => {
    if (event.type !== 'DELETED') queueMicrotask(() => settle(event.key));
  });
  return () => {
    for (const end of waits.values()) end();
    waits.clear();
    for (const [name] of [...crds.range('', '', crds.revision)]) settle(name);
  };
}
