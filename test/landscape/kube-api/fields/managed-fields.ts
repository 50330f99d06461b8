import { asArray, asString, isObject, type Json, type JsonObject } from '../json.ts';
import type { Schema } from '../schema.ts';
import {
  difference,
  type FieldSet,
  fromFieldsV1,
  isEmpty,
  sameSet,
  toFieldsV1,
  union,
  withoutTrees,
} from './field-set.ts';
import { type Comparison, compare } from './walk.ts';

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
    if (manager.manager !== '' || manager.apiVersion !== '') managers.set(identity(manager, operation), manager);
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
