import { randomUUID } from 'node:crypto';
import { parse } from 'yaml';
import { type Answer, type Call, isDryRun, managerOf } from './call.ts';
import { checkIdentity, checkNamespace, clean, decode, nameRequired, validate } from './decode.ts';
import { apiVersionOf, keyOf } from './definition.ts';
import {
  ApiError,
  alreadyExists,
  badRequest,
  changedMeanwhile,
  conflict,
  fieldError,
  invalid,
  notFound,
  unsupportedMediaType,
} from './errors.ts';
import { applyObject } from './fields/apply.ts';
import { type FieldSet, fromFieldsV1, toFieldsV1 } from './fields/field-set.ts';
import { decodeManagers, encodeManagers, type Managers, own, type Writer } from './fields/managed-fields.ts';
import { checkTyped } from './fields/typed.ts';
import { type ApiObject, asArray, equal, isObject, type Json, type JsonObject, withKey } from './json.ts';
import { checkNamespaceOpen, checkServed } from './lifecycle.ts';
import { generatedName } from './names.ts';
import { JsonPatchError, jsonPatch } from './patch/json-patch.ts';
import { mergePatch } from './patch/merge-patch.ts';
import { strategicMergePatch } from './patch/strategic-merge-patch.ts';
import type { Registry } from './registry.ts';
import { emptyValue } from './schema.ts';
import { prepareCreate, prepareUpdate, strategyErrors } from './strategy.ts';
import { now } from './time.ts';

/** POST. */
export function create(registry: Registry, call: Call): Answer {
  const object = decode(call, call.body);
  checkNamespace(call, object);
  return { code: 201, body: store(registry, call, object, undefined) };
}

/** Stores a new object; `managers` when they were already worked out. */
function store(registry: Registry, call: Call, decoded: ApiObject, managers: Managers | undefined): ApiObject {
  const { definition, namespace } = call;
  if (definition.namespaced) checkNamespaceOpen(registry, definition, namespace, decoded.metadata.name);
  checkServed(definition, decoded.metadata.name);
  const generateName = String(decoded.metadata.generateName ?? '');
  const name = decoded.metadata.name || (generateName === '' ? '' : generatedName(generateName));
  if (name === '') throw invalid(definition, '', [nameRequired]);
  if (decoded.metadata.resourceVersion !== undefined && decoded.metadata.resourceVersion !== '0') {
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const key = keyOf(definition, namespace, name);
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    selfLink: ___,
    managedFields,
    ...rest
  } = decoded.metadata;
  const metadata = withKey(
    { ...rest, name, uid: randomUUID(), creationTimestamp: now() },
    'namespace',
    definition.namespaced ? namespace : undefined,
  );
  const prepared = prepareCreate(definition, { ...decoded, metadata: withKey(metadata, 'resourceVersion', undefined) });
  validate(call, prepared);
  const errors = strategyErrors(definition, prepared);
  if (errors.length > 0) throw invalid(definition, name, errors);
  if (definition.store.get(key) !== undefined) throw alreadyExists(definition, name);

  const owners = managers ?? trackUpdate(call, emptyObject(call), prepared, decodeManagers(managedFields));
  const object = withManagers({ ...prepared, apiVersion: definition.storedAs }, owners);
  return isDryRun(call) ? object : definition.store.put(key, object);
}

/** PUT. */
export function update(call: Call): Answer {
  const object = decode(call, call.body);
  checkIdentity(call, object);
  const live = find(call);
  if (live === undefined) throw notFound(call.definition, call.name);
  if (call.definition.custom && object.metadata.resourceVersion === undefined) {
    const { group, plural } = call.definition;
    throw invalid({ group, plural, kind: plural }, call.name, [
      fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  return { code: 200, body: replace(call, live, object) };
}

/** PATCH in all its forms. */
export function patch(registry: Registry, call: Call): Answer {
  const { definition } = call;
  if (call.contentType === 'application/apply-patch+yaml') return apply(registry, call);
  const stored = find(call);
  if (stored === undefined) throw notFound(definition, call.name);
  // A patch is written against the version of its path.
  const live = { ...stored, apiVersion: apiVersionOf(definition) };
  const patched = patchedBody(call, live);
  if (!isObject(patched) || !isObject(patched.metadata)) throw badRequest('the patch leaves no object');
  // The patch says what it says relative to the live object; only what it sets itself can be a precondition.
  const object = decode(call, patched);
  checkIdentity(call, object);
  checkUid(call, live, object);
  checkDeletionTime(call, live, object);
  return { code: 200, body: replace(call, live, object) };
}

function checkDeletionTime({ definition, name }: Call, live: ApiObject, { metadata }: ApiObject): void {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined || deletionTimestamp === live.metadata.deletionTimestamp) return;
  const error = fieldError.invalid('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable');
  throw invalid(definition, name, [error]);
}

function checkUid({ definition, name }: Call, live: ApiObject, { metadata: { uid } }: ApiObject): void {
  if (uid === undefined || uid === live.metadata.uid) return;
  throw invalid(definition, name, [fieldError.invalid('metadata.uid', uid, 'field is immutable')]);
}

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

function patchedBody(call: Call, live: ApiObject): Json {
  const body = call.body ?? null;
  const { definition } = call;
  switch (call.contentType) {
    case 'application/merge-patch+json':
      return mergePatch(live, body);
    case 'application/json-patch+json':
      if (!Array.isArray(body)) {
        throw badRequest(
          'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
        );
      }
      try {
        return jsonPatch(live, body);
      } catch (error) {
        if (!(error instanceof JsonPatchError)) throw error;
        throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
      }
    case 'application/strategic-merge-patch+json':
      if (!definition.custom) return strategicMergePatch(definition.schema, live, body);
      throw unsupportedMediaType(patchTypes);
    default:
      throw unsupportedMediaType(patchTypes);
  }
}

function apply(registry: Registry, call: Call): Answer {
  const { definition, query } = call;
  if (!query.get('fieldManager')) {
    throw new ApiError(
      422,
      'Invalid',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      {
        group: 'meta.k8s.io',
        kind: 'PatchOptions',
        causes: [
          {
            reason: 'FieldValueRequired',
            message: 'Required value: is required for apply patch',
            field: 'fieldManager',
          },
        ],
      },
    );
  }
  const body = call.body;
  if (isObject(body) && isObject(body.metadata) && asArray(body.metadata.managedFields).length > 0) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const applied = decodeApplied(call, body);
  checkTyped(definition.schema, applied);
  const found = find(call);
  if (found === undefined && call.subresource !== '') throw notFound(definition, call.name);
  if (found === undefined && applied.metadata.uid !== undefined) {
    throw conflict(
      definition,
      call.name,
      `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`,
    );
  }
  const live = found ?? emptyObject(call);
  const { object, managers } = applyObject({
    schema: definition.schema,
    live: bare(live),
    applied: bare(applied),
    managers: managersBefore(call, found),
    writer: writerOf(call),
    force: query.get('force') === 'true',
    ignored: resetFields(call),
    time: now(),
  });
  checkIdentity(call, applied);
  const next = clean(call, {
    ...object,
    metadata: { ...(object.metadata as JsonObject), name: call.name },
  } as ApiObject);
  if (found === undefined) {
    const created = { ...next, metadata: withKey(next.metadata, 'resourceVersion', undefined) };
    return { code: 201, body: store(registry, call, created, managers) };
  }
  checkUid(call, found, next);
  return { code: 200, body: replace(call, found, next, managers) };
}

/** Managers of the live object; one that has none is taken to be its updaters' as a whole. */
function managersBefore(call: Call, live: ApiObject | undefined): Managers {
  const managers = decodeManagers(live?.metadata.managedFields);
  if (live === undefined || managers.size > 0) return managers;
  return own(managers, { ...writerOf(call), manager: 'before-first-apply', subresource: '' }, call.definition.schema, {
    old: bare(emptyObject(call)),
    now: bare(live),
    ignored: resetFields(call),
    time: now(),
  });
}

function decodeApplied(call: Call, body: Json | undefined): ApiObject {
  const { definition } = call;
  if (!isObject(body)) throw badRequest('the request body is not an object');
  const expected = apiVersionOf(definition);
  if (body.apiVersion !== expected || body.kind !== definition.kind) {
    throw badRequest(
      `the API version in the data (${String(body.apiVersion)}) and kind (${String(body.kind)}) do not match the expected ${expected}, ${definition.kind}`,
    );
  }
  const metadata = isObject(body.metadata) ? body.metadata : {};
  const named = { ...metadata, name: typeof metadata.name === 'string' ? metadata.name : call.name };
  const object = { ...body, metadata: named } as ApiObject;
  return object;
}

/** Without what field ownership does not look at. */
function bare(object: ApiObject): JsonObject {
  return { ...object, metadata: withKey(object.metadata, 'managedFields', undefined) };
}

/** Stores a changed object; `managers` when they were already worked out. */
function replace(call: Call, live: ApiObject, next: ApiObject, managers?: Managers): ApiObject {
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
    throw changedMeanwhile(definition, name);
  }
  const merged = { ...next, metadata: systemMetadata(live, next) };
  const prepared = prepareUpdate(definition, call.subresource, live, merged);
  const owners = managers ?? trackUpdate(call, live, prepared, sentManagers(live, next));
  const object = withManagers({ ...prepared, apiVersion: definition.storedAs }, owners);
  checkFinalizers(call, live, object);
  validate(call, object, live);
  const errors = strategyErrors(definition, object, live);
  if (errors.length > 0) throw invalid(definition, name, errors);

  const same = { ...live, apiVersion: object.apiVersion };
  if (equal(comparable(same), comparable(object))) return same;
  if (isDryRun(call)) return object;
  const key = keyOf(definition, call.namespace, name);
  const finished = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
  const held = definition.plural === 'namespaces' && !definition.custom && namespaceHeld(object);
  if (finished && !held) return definition.store.remove(key, object) ?? object;
  return definition.store.put(key, object);
}

/** A namespace stays while `spec.finalizers` says so. */
function namespaceHeld(object: ApiObject): boolean {
  return isObject(object.spec) && asArray(object.spec.finalizers).length > 0;
}

/** What only the server sets. */
function systemMetadata(live: ApiObject, next: ApiObject): ApiObject['metadata'] {
  const {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    namespace,
    resourceVersion,
  } = live.metadata;
  const kept = {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    namespace,
    resourceVersion,
  };
  let metadata = next.metadata;
  for (const [key, value] of Object.entries(kept)) metadata = withKey(metadata, key, value);
  return withKey(metadata, 'selfLink', undefined);
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

/** Managers as the writer sent them (that is allowed), else the live ones. */
function sentManagers(live: ApiObject, next: ApiObject): Managers {
  const sent = next.metadata.managedFields;
  if (Array.isArray(sent) && sent.length > 0) return decodeManagers(sent);
  return decodeManagers(live.metadata.managedFields);
}

function trackUpdate(call: Call, live: ApiObject, object: ApiObject, managers: Managers): Managers {
  return own(managers, writerOf(call), call.definition.schema, {
    old: bare(live),
    now: bare(object),
    ignored: resetFields(call),
    time: now(),
  });
}

function writerOf(call: Call): Writer {
  return { manager: managerOf(call), apiVersion: apiVersionOf(call.definition), subresource: call.subresource };
}

const specOnly = fromFieldsV1({ 'f:spec': {} });
const statusOnly = fromFieldsV1({ 'f:status': {} });
const statusAndSpec = fromFieldsV1({ 'f:status': {}, 'f:spec': {} });
const allButStatus = fromFieldsV1({ 'f:metadata': {}, 'f:spec': {} });

/** What this endpoint never changes, so that nobody owns it through it. */
function resetFields({ definition, subresource }: Call): FieldSet | undefined {
  if (subresource === 'status') return definition.custom ? allButStatus : specOnly;
  // A namespace's finalizers are the server's doing.
  if (definition.plural === 'namespaces' && !definition.custom) return statusAndSpec;
  return definition.status ? statusOnly : undefined;
}

function withManagers(object: ApiObject, managers: Managers): ApiObject {
  const encoded = encodeManagers(managers);
  return { ...object, metadata: withKey(object.metadata, 'managedFields', encoded.length === 0 ? undefined : encoded) };
}

/** An object as far as a write can change it: the times of ownership do not count. */
function comparable(object: ApiObject): JsonObject {
  const managers = [...decodeManagers(object.metadata.managedFields)].map(([id, { fields }]) => [
    id,
    toFieldsV1(fields),
  ]);
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: managers.map(([id, fields]) => ({ id, fields }) as JsonObject) },
  };
}

/** What an object is before its creation. */
function emptyObject({ definition }: Call): ApiObject {
  const { kind } = definition;
  const empty = definition.custom ? {} : emptyValue(definition.schema);
  return { ...empty, apiVersion: apiVersionOf(definition), kind, metadata: { name: '' } };
}

function find(call: Call): ApiObject | undefined {
  return call.definition.store.get(keyOf(call.definition, call.namespace, call.name));
}

/** A request body: JSON, or YAML where that is allowed. */
export function parseBody(text: string, contentType: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!contentType.includes('yaml')) {
      throw badRequest(`the body is no JSON: ${error instanceof Error ? error.message : ''}`);
    }
    return parse(text);
  }
}
