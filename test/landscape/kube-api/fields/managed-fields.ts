import { apiVersionOf, type Call, managerOf } from '../call.ts';
import { type ApiObject, asArray, asString, isObject, type Json, type JsonObject, withKey } from '../json.ts';
import type { Schema } from '../schema.ts';
import { now } from '../time.ts';
import {
  type Comparison,
  compare,
  difference,
  type FieldSet,
  fromFieldsV1,
  isEmpty,
  sameSet,
  toFieldsV1,
  union,
  withoutTrees,
} from './field-set.ts';

/** Field ownership: one entry per manager, operation and subresource. */
export interface Manager {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string;
  fields: FieldSet;
}

/** Managers by their identity. */
export type Managers = Map<string, Manager>;

/** Manager, operation and subresource of a write. */
export interface Writer {
  manager: string;
  apiVersion: string;
  subresource: string;
}

/** Appliers keep their identity across API versions, updaters do not. */
export function identity(writer: Writer, operation: 'Apply' | 'Update'): string {
  const version = operation === 'Apply' ? '' : writer.apiVersion;
  return `${operation}|${writer.manager}|${version}|${writer.subresource}`;
}

/** System metadata without an owner. */
const unowned = fromFieldsV1({
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
  },
});

/** Removes fields that cannot have an owner. */
export const strip = (fields: FieldSet) => difference(fields, unowned);

export function decodeManagers(managedFields: Json | undefined): Managers {
  const managers: Managers = new Map();
  for (const entry of asArray(managedFields)) {
    if (!isObject(entry)) continue;
    const operation = entry.operation === 'Apply' ? 'Apply' : 'Update';
    const manager: Manager = {
      manager: asString(entry.manager),
      operation,
      apiVersion: asString(entry.apiVersion),
      subresource: asString(entry.subresource),
      time: asString(entry.time),
      fields: fromFieldsV1(entry.fieldsV1),
    };
    managers.set(identity(manager, operation), manager);
  }
  return managers;
}

/** Returns `metadata.managedFields`: appliers first, then by age. */
export function encodeManagers(managers: Managers): JsonObject[] {
  const rank = ({ operation, time, manager, apiVersion, subresource }: Manager) =>
    [operation, time, manager, apiVersion, subresource].join('\n');
  const order = (one: Manager, other: Manager) => (rank(one) < rank(other) ? -1 : 1);
  return [...managers.values()].sort(order).map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
    manager,
    operation,
    apiVersion,
    ...(time !== '' && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(subresource !== '' && { subresource }),
  }));
}

/** Fields that a write cannot change (for example the status through the main resource). */
export type Ignored = FieldSet | undefined;

/** Transfers changed fields from all other managers to the writer. */
export function own(
  managers: Managers,
  writer: Writer,
  schema: Schema | undefined,
  change: { old: JsonObject; now: JsonObject; ignored: Ignored; time: string },
): Managers {
  const comparison = compare(schema, change.old, change.now);
  const self = identity(writer, 'Update');
  const changed = strip(ignore(union(comparison.added, comparison.modified), change.ignored));
  const result = lose(managers, changed, comparison, undefined);
  if (isEmpty(changed)) return result;
  const before = result.get(self)?.fields;
  result.set(self, {
    ...writer,
    operation: 'Update',
    time: change.time,
    fields: before === undefined ? changed : union(before, changed),
  });
  return result;
}

export function ignore(fields: FieldSet, ignored: Ignored): FieldSet {
  return ignored === undefined ? fields : withoutTrees(fields, ignored);
}

/** Removes changed and removed fields from all managers but the writer. */
export function lose(
  managers: Managers,
  changed: FieldSet,
  { removed }: Comparison,
  except: string | undefined,
): Managers {
  const result: Managers = new Map();
  for (const [id, manager] of managers) {
    const kept = id === except ? manager.fields : difference(manager.fields, changed);
    const fields = difference(kept, removed);
    if (isEmpty(fields)) continue;
    result.set(id, sameSet(fields, manager.fields) ? manager : { ...manager, fields });
  }
  return result;
}

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
