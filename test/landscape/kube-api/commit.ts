import { randomUUID } from 'node:crypto';
import { type Call, keyOf } from './call.ts';
import { nameRequired, validate } from './decode.ts';
import { ApiError, alreadyExists, conflict, fieldError, forbidden, invalid, notFound } from './errors.ts';
import {
  comparable,
  decodeManagers,
  emptyObject,
  type Managers,
  sentManagers,
  trackUpdate,
  withManagers,
} from './fields/managed-fields.ts';
import { type ApiObject, asArray, asObject, equal, isObject, withKey } from './json.ts';
import type { Registry } from './registry.ts';
import { prepareCreate, prepareUpdate, strategyErrors } from './strategy.ts';
import { now } from './time.ts';

/** The live object of a request. */
export function find(call: Call): ApiObject | undefined {
  return call.definition.store.get(keyOf(call.definition, call.namespace, call.name));
}

/** Stores a new object; `managers` if they are already known. */
export function store(registry: Registry, call: Call, decoded: ApiObject, managers: Managers | undefined): ApiObject {
  const { definition, namespace } = call;
  const { name } = decoded.metadata;
  checkOpen(registry, call, name);
  if (name === '') throw invalid(definition, '', [nameRequired]);
  if (decoded.metadata.resourceVersion !== undefined && decoded.metadata.resourceVersion !== '0') {
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const key = keyOf(definition, namespace, name);
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, managedFields, ...rest } = decoded.metadata;
  const metadata = withKey(
    { ...rest, uid: randomUUID(), creationTimestamp: now() },
    'namespace',
    definition.namespaced ? namespace : undefined,
  );
  const prepared = prepareCreate(definition, { ...decoded, metadata: withKey(metadata, 'resourceVersion', undefined) });
  validate(call, prepared);
  const errors = strategyErrors(definition, prepared);
  if (errors.length > 0) throw invalid(definition, name, errors);
  call.admit();
  if (definition.store.get(key) !== undefined) throw alreadyExists(definition, name);

  const owners = managers ?? trackUpdate(call, emptyObject(call), prepared, decodeManagers(managedFields));
  return definition.store.put(key, withManagers({ ...prepared, apiVersion: definition.storedAs }, owners));
}

/** Rejects new objects of a CRD that is being deleted, and in a namespace that is being deleted or does not exist. */
function checkOpen(registry: Registry, { definition, namespace }: Call, name: string): void {
  if (definition.terminating) {
    throw forbidden(definition, name, 'create not allowed while custom resource definition is terminating');
  }
  if (!definition.namespaced) return;
  const namespaces = registry.get('', 'v1', 'namespaces');
  const found = namespaces.store.get(namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (asObject(found.status).phase !== 'Terminating') return;
  const message = `namespace ${namespace} is being terminated`;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = forbidden(definition, name, why);
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
  throw new ApiError(403, 'Forbidden', error.message, { ...error.details, causes });
}

/** Stores a changed object; `managers` if they are already known. */
export function replace(call: Call, live: ApiObject, next: ApiObject, managers?: Managers): ApiObject {
  const { definition, name } = call;
  const { metadata } = next;
  if (metadata.uid !== undefined && metadata.uid !== live.metadata.uid) {
    throw conflict(
      definition,
      name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${live.metadata.uid}`,
    );
  }
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== live.metadata.resourceVersion) {
    throw conflict(
      definition,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  const merged = { ...next, metadata: systemMetadata(live, next) };
  const prepared = prepareUpdate(definition, call.subresource, live, merged);
  const owners = managers ?? trackUpdate(call, live, prepared, sentManagers(live, next));
  const object = withManagers({ ...prepared, apiVersion: definition.storedAs }, owners);
  checkFinalizers(call, live, object);
  validate(call, object);
  const errors = strategyErrors(definition, object, live);
  if (errors.length > 0) throw invalid(definition, name, errors);

  const same = { ...live, apiVersion: object.apiVersion };
  if (equal(comparable(same), comparable(object))) return same;
  const key = keyOf(definition, call.namespace, name);
  const finished = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
  const held = definition.plural === 'namespaces' && !definition.custom && namespaceHeld(object);
  if (finished && !held) return definition.store.remove(key, object) ?? object;
  return definition.store.put(key, object);
}

/** Returns whether `spec.finalizers` keeps a namespace. */
function namespaceHeld(object: ApiObject): boolean {
  return isObject(object.spec) && asArray(object.spec.finalizers).length > 0;
}

const systemFields = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'namespace',
  'resourceVersion',
];

/** Sets the fields that only the server sets. */
function systemMetadata(live: ApiObject, next: ApiObject): ApiObject['metadata'] {
  return systemFields.reduce((metadata, key) => withKey(metadata, key, live.metadata[key]), next.metadata);
}

function checkFinalizers(call: Call, live: ApiObject, object: ApiObject): void {
  if (live.metadata.deletionTimestamp === undefined) return;
  const before = live.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  if (added.length === 0) return;
  throw invalid(call.definition, call.name, [
    fieldError.forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((text) => JSON.stringify(text)).join(', ')}}`,
    ),
  ]);
}
