import { type Call, managerOf } from './call.ts';
import { apiVersionOf } from './definition.ts';
import { type FieldSet, fromFieldsV1, toFieldsV1 } from './fields/field-set.ts';
import { decodeManagers, encodeManagers, type Managers, own, type Writer } from './fields/managed-fields.ts';
import { type ApiObject, type JsonObject, withKey } from './json.ts';
import { now } from './time.ts';

/** The author of a write. */
export function writerOf(call: Call): Writer {
  return { manager: managerOf(call), apiVersion: apiVersionOf(call.definition), subresource: call.subresource };
}

const specOnly = fromFieldsV1({ 'f:spec': {} });
const statusOnly = fromFieldsV1({ 'f:status': {} });
const statusAndSpec = fromFieldsV1({ 'f:status': {}, 'f:spec': {} });
const allButStatus = fromFieldsV1({ 'f:metadata': {}, 'f:spec': {} });

/** Fields that this endpoint never changes, and that no manager can own through it. */
export function resetFields({ definition, subresource }: Call): FieldSet | undefined {
  if (subresource === 'status') return definition.custom ? allButStatus : specOnly;
  // The server sets a namespace's finalizers.
  if (definition.plural === 'namespaces' && !definition.custom) return statusAndSpec;
  return definition.status ? statusOnly : undefined;
}

/** Returns the object without fields that field ownership ignores. */
export function bare(object: ApiObject): JsonObject {
  return { ...object, metadata: withKey(object.metadata, 'managedFields', undefined) };
}

/** Returns the state before creation. */
export function emptyObject({ definition }: Call): ApiObject {
  return { apiVersion: apiVersionOf(definition), kind: definition.kind, metadata: { name: '' } };
}

/** Returns the managers after an update or a creation. */
export function trackUpdate(call: Call, live: ApiObject, object: ApiObject, managers: Managers): Managers {
  return own(managers, writerOf(call), call.definition.schema, {
    old: bare(live),
    now: bare(object),
    ignored: resetFields(call),
    time: now(),
  });
}

/** Returns the managers that the writer sent (that is allowed), else the live ones. */
export function sentManagers(live: ApiObject, next: ApiObject): Managers {
  const sent = next.metadata.managedFields;
  if (Array.isArray(sent) && sent.length > 0) return decodeManagers(sent);
  return decodeManagers(live.metadata.managedFields);
}

/** Returns the managers of the live object; an object without any belongs to its updaters as a whole. */
export function managersBefore(call: Call, live: ApiObject | undefined): Managers {
  const managers = decodeManagers(live?.metadata.managedFields);
  if (live === undefined || managers.size > 0) return managers;
  return own(managers, { ...writerOf(call), manager: 'before-first-apply', subresource: '' }, call.definition.schema, {
    old: bare(emptyObject(call)),
    now: bare(live),
    ignored: resetFields(call),
    time: now(),
  });
}

/** Returns the object with its managers. */
export function withManagers(object: ApiObject, managers: Managers): ApiObject {
  const encoded = encodeManagers(managers);
  return { ...object, metadata: withKey(object.metadata, 'managedFields', encoded.length === 0 ? undefined : encoded) };
}

/** Returns the object without the times of its managers, for comparison. */
export function comparable(object: ApiObject): JsonObject {
  const managers = [...decodeManagers(object.metadata.managedFields)].map(([id, { fields }]) => [
    id,
    toFieldsV1(fields),
  ]);
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: managers.map(([id, fields]) => ({ id, fields }) as JsonObject) },
  };
}
