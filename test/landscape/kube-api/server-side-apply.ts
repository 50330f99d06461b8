import type { Answer, Call } from './call.ts';
import { find, replace, store } from './commit.ts';
import { checkIdentity, checkUid, clean } from './decode.ts';
import { apiVersionOf } from './definition.ts';
import { ApiError, badRequest, conflict, notFound } from './errors.ts';
import { applyObject } from './fields/apply.ts';
import { type ApiObject, asArray, isObject, type Json, type JsonObject, withKey } from './json.ts';
import { bare, emptyObject, managersBefore, resetFields, writerOf } from './ownership.ts';
import type { Registry } from './registry.ts';
import type { Schema } from './schema.ts';
import { now } from './time.ts';
import { prune } from './validate.ts';

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
    managers: managersBefore(call, found),
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
