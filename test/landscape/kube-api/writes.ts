import { type Answer, apiVersionOf, type Call } from './call.ts';
import { find, replace, store } from './commit.ts';
import { checkIdentity, checkNamespace, checkUid, clean, decode } from './decode.ts';
import { ApiError, badRequest, conflict, fieldError, invalid, notFound } from './errors.ts';
import { applyObject } from './fields/apply.ts';
import { bare, decodeManagers, emptyObject, resetFields, writerOf } from './fields/managed-fields.ts';
import { type ApiObject, asArray, isObject, type Json, type JsonObject, withKey } from './json.ts';
import type { Registry } from './registry.ts';
import type { Schema } from './schema.ts';
import { now } from './time.ts';
import { prune } from './validate.ts';

/** Handles POST. */
export function create(registry: Registry, call: Call): Answer {
  const object = decode(call, call.body);
  checkNamespace(call, object);
  return { code: 201, body: store(registry, call, object, undefined) };
}

/** Handles PUT. */
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

/** Handles PATCH: server-side apply and JSON merge patch, the two that clients of the landscape send. */
export function patch(registry: Registry, call: Call): Answer {
  const { definition } = call;
  if (call.contentType === 'application/apply-patch+yaml') return apply(registry, call);
  if (call.contentType !== 'application/merge-patch+json') {
    throw new ApiError(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  }
  const stored = find(call);
  if (stored === undefined) throw notFound(definition, call.name);
  // A patch refers to the API version of its path.
  const live = { ...stored, apiVersion: apiVersionOf(definition) };
  const patched = mergePatch(live, call.body ?? null);
  if (!isObject(patched) || !isObject(patched.metadata)) throw badRequest('the patch leaves no object');
  // A patch is relative to the live object; only fields that it sets itself can be preconditions.
  const object = decode(call, patched);
  checkIdentity(call, object);
  checkUid(call, live, object);
  return { code: 200, body: replace(call, live, object) };
}

/**
 * Handles PATCH with `application/apply-patch+yaml`. Clients of the landscape always apply with force, so nothing is ever
 * a conflict.
 */
export function apply(registry: Registry, call: Call): Answer {
  const { definition, query } = call;
  if (!query.get('fieldManager') || query.get('force') !== 'true') {
    throw badRequest('an apply needs a fieldManager, and force: the embedded API does not know conflicts');
  }
  const body = call.body;
  if (isObject(body) && isObject(body.metadata) && asArray(body.metadata.managedFields).length > 0) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const applied = decodeApplied(call, body);
  checkDeclared(definition.schema, applied);
  const found = find(call);
  if (found === undefined && call.subresource !== '') throw notFound(definition, call.name);
  if (found === undefined && applied.metadata.uid !== undefined) {
    throw conflict(
      definition,
      call.name,
      `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`,
    );
  }
  const live = { ...(found ?? emptyObject(call)), apiVersion: applied.apiVersion };
  const { object, managers } = applyObject({
    schema: definition.schema,
    live: bare(live),
    applied: bare(applied),
    managers: decodeManagers(found?.metadata.managedFields),
    writer: writerOf(call),
    ignored: resetFields(call),
    time: now(),
  });
  checkIdentity(call, applied);
  const next = clean(call, {
    ...object,
    metadata: { ...(object.metadata as JsonObject), name: call.name },
  } as ApiObject);
  if (found === undefined) {
    call.mayCreate();
    const created = { ...next, metadata: withKey(next.metadata, 'resourceVersion', undefined) };
    return { code: 201, body: store(registry, call, created, managers) };
  }
  checkUid(call, found, next);
  return { code: 200, body: replace(call, found, next, managers) };
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
  return { ...body, metadata: named } as ApiObject;
}

/** Field ownership needs a schema: unlike other writes, an apply with unknown fields is refused. */
function checkDeclared(schema: Schema, applied: ApiObject): void {
  const problems: string[] = [];
  prune(schema, applied, (path) => problems.push(`.${path}: field not declared in schema`));
  if (problems.length > 0) throw new ApiError(500, '', `failed to create typed patch object: ${problems.join(', ')}`);
}

/** Applies a JSON merge patch (RFC 7386). */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}
