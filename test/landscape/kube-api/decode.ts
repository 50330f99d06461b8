import { apiVersionOf, type Call, type Definition } from './call.ts';
import { withCrdDefaults } from './crd.ts';
import { badRequest, fieldError, invalid } from './errors.ts';
import {
  type ApiObject,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  type Meta,
  withKey,
} from './json.ts';
import { childSchema, type Schema } from './schema.ts';
import { prune, schemaErrors, withDefaults } from './validate.ts';

/** Decodes the body of a write: checks kind and name, rejects or prunes unknown fields, fills in defaults. */
export function decode(call: Call, body: Json | undefined): ApiObject {
  const { definition } = call;
  if (!isObject(body)) throw badRequest('the request body is not an object');
  const expected = apiVersionOf(definition);
  const apiVersion = body.apiVersion ?? (definition.custom ? undefined : expected);
  const kind = body.kind ?? (definition.custom ? undefined : definition.kind);
  if (apiVersion !== expected || kind !== definition.kind) {
    throw badRequest(
      `${String(kind)} in version "${String(apiVersion)}" cannot be handled as a ${definition.kind} in version "${expected}"`,
    );
  }
  return clean(call, { ...body, apiVersion, kind, metadata: metadataOf(body.metadata) });
}

function metadataOf(metadata: Json | undefined): Meta {
  if (metadata === undefined || metadata === null) return { name: '' };
  if (!isObject(metadata)) throw badRequest('metadata is not an object');
  let result: JsonObject = { ...metadata };
  for (const [key, value] of Object.entries(metadata)) {
    const empty = Array.isArray(value)
      ? value.length === 0 && key !== 'managedFields'
      : isObject(value) && Object.keys(value).length === 0;
    if (value === null || value === '' || empty) result = withKey(result, key, undefined);
  }
  return { ...result, name: typeof result.name === 'string' ? result.name : '' };
}

/** Prunes and defaults. */
export function clean(call: Call, object: ApiObject): ApiObject {
  const { definition } = call;
  const builtIn = !definition.custom;
  const whole = builtIn ? (dropEmpty(definition.schema, object) as ApiObject) : object;
  const pruned = prune(definition.schema, whole) as ApiObject;
  if (builtIn) return withBuiltInDefaults(definition, pruned);
  return withDefaults(definition.schema, pruned) as ApiObject;
}

/** Removes nulls, empty lists and empty maps: in built-in types they mean absent. */
function dropEmpty(schema: Schema | undefined, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => dropEmpty(schema?.items, item));
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (child === null || child === undefined) continue;
    const known = childSchema(schema, key);
    if (isEmptyCollection(known, child) && schema?.required?.includes(key) !== true && key !== 'managedFields')
      continue;
    result[key] = key === 'managedFields' ? child : dropEmpty(known, child);
  }
  return result;
}

function isEmptyCollection(schema: Schema | undefined, value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0 && schema?.type === 'array';
  return isObject(value) && schema?.additionalProperties !== undefined && Object.keys(value).length === 0;
}

/** Rejects an object that violates its schema. */
export function validate({ definition }: Call, object: ApiObject): void {
  const errors = schemaErrors(definition.schema, object, '').filter(
    ({ field, reason }) => !field.startsWith('metadata') && !isZero(definition, field, reason),
  );
  if (errors.length === 0) return;
  throw invalid(definition, object.metadata.name, errors);
}

/** Sets missing required numbers in a built-in status to zero, as Go does. */
function isZero({ custom }: Call['definition'], field: string, reason: string): boolean {
  return !custom && field.startsWith('status.') && reason === 'FieldValueRequired';
}

/** Rejects a body that names another object than the path. */
export function checkIdentity(call: Call, object: ApiObject): void {
  const { metadata } = object;
  if (call.name !== '' && metadata.name !== call.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`);
  }
  checkNamespace(call, object);
}

export function checkNamespace(call: Call, { metadata }: ApiObject): void {
  if (!call.definition.namespaced || metadata.namespace === undefined || metadata.namespace === call.namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** Rejects a body with another uid than the live object's. */
export function checkUid({ definition, name }: Call, live: ApiObject, { metadata: { uid } }: ApiObject): void {
  if (uid === undefined || uid === live.metadata.uid) return;
  throw invalid(definition, name, [fieldError.invalid('metadata.uid', uid, 'field is immutable')]);
}

export const nameRequired = fieldError.required('metadata.name');

/** The few defaults of built-in types that programs in this landscape read. */
export function withBuiltInDefaults(definition: Definition, object: ApiObject): ApiObject {
  switch (`${definition.group}/${definition.plural}`) {
    case '/secrets':
      return { ...withStringData(object), type: asString(object.type) || 'Opaque' };
    case 'apiextensions.k8s.io/customresourcedefinitions':
      return withCrdDefaults(object);
    case '/namespaces': {
      const labels = { ...asObject(object.metadata.labels), 'kubernetes.io/metadata.name': object.metadata.name };
      return { ...object, metadata: { ...object.metadata, labels } };
    }
    case 'apps/deployments':
      return { ...object, spec: { replicas: 1, ...asObject(object.spec) } };
    default:
      return object;
  }
}

/** Moves `stringData` into `data`. */
function withStringData(secret: ApiObject): ApiObject {
  for (const [key, value] of Object.entries(asObject(secret.data))) {
    if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(asString(value))) continue;
    throw badRequest(`Secret in version "v1" cannot be handled as a Secret: illegal base64 data in ${key}`);
  }
  const { stringData, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...rest, data: { ...asObject(rest.data), ...Object.fromEntries(encoded) } } as ApiObject;
}
