import { isObject, type Json, type JsonObject } from '../json.ts';
import { childSchema, type Schema } from '../schema.ts';
import {
  compare,
  difference,
  emptySet,
  type FieldSet,
  fieldsOf,
  isAtomicMap,
  isEmpty,
  isSame,
  itemElement,
  listKind,
  sameSet,
  union,
} from './field-set.ts';
import { type Ignored, identity, ignore, lose, type Managers, strip, type Writer } from './managed-fields.ts';

export interface Application {
  schema: Schema | undefined;
  /** Without `managedFields`. */
  live: JsonObject;
  /** The body of the request, without `managedFields`. */
  applied: JsonObject;
  managers: Managers;
  writer: Writer;
  ignored: Ignored;
  time: string;
}

/**
 * Applies on the server with force: merges, removes fields that only this manager applied before, and transfers ownership.
 * @returns the object and its managers; the live ones when nothing changed
 */
export function applyObject(application: Application): { object: JsonObject; managers: Managers } {
  const { schema, live, applied, writer } = application;
  const self = identity(writer, 'Apply');
  const fields = strip(ignore(fieldsOf(schema, applied), application.ignored));
  const before = application.managers.get(self);
  const managers: Managers = new Map(application.managers);
  managers.set(self, { ...writer, operation: 'Apply', time: before?.time ?? '', fields });

  const merged = merge(schema, live, applied) as JsonObject;
  const object = before === undefined ? merged : prune(schema, merged, managers, before.fields);
  const comparison = compare(schema, live, object);
  if (before !== undefined && isSame(comparison) && sameSet(before.fields, fields)) {
    return { object: live, managers: application.managers };
  }
  const result = lose(managers, union(comparison.added, comparison.modified), comparison, self);
  const kept = result.get(self);
  if (kept !== undefined && isEmpty(kept.fields)) result.delete(self);
  // An apply that changes only ownership does not update the time.
  else if (kept !== undefined && !isSame(comparison)) result.set(self, { ...kept, time: application.time });
  return { object, managers: result };
}

/** Removes fields that the manager applied last time and no longer applies, unless another manager owns them. */
function prune(schema: Schema | undefined, merged: JsonObject, managers: Managers, last: FieldSet): JsonObject {
  const managed = [...managers.values()].reduce((all, { fields }) => union(all, fields), emptySet());
  const dropped = difference(withNamedParents(schema, last), withNamedParents(schema, managed));
  return (removeFields(schema, merged, dropped) ?? {}) as JsonObject;
}

/** Merges `applied` into `live`, before fields are removed. */
export function merge(schema: Schema | undefined, live: Json | undefined, applied: Json | undefined): Json | undefined {
  if (applied === undefined) return live;
  if (live === undefined || live === null || applied === null) return applied;
  if (Array.isArray(live) && Array.isArray(applied)) {
    return listKind(schema) === 'atomic' ? applied : mergeLists(schema, live, applied);
  }
  if (isObject(live) && isObject(applied)) {
    if (isAtomicMap(schema)) return applied;
    const result: JsonObject = { ...live };
    for (const [key, value] of Object.entries(applied)) {
      const merged = merge(childSchema(schema, key), live[key], value);
      if (merged !== undefined) result[key] = merged;
    }
    return result;
  }
  return applied;
}

/** Returns the applied items in their order, with the other live items between them where they were. */
function mergeLists(schema: Schema | undefined, live: Json[], applied: Json[]): Json[] {
  const wanted = new Map(applied.map((item) => [itemElement(schema, item), item]));
  const existing = new Map(live.map((item) => [itemElement(schema, item), item]));
  const result: Json[] = [];
  const pending = [...wanted];
  const emit = (element: string, item: Json) => {
    const merged = merge(schema?.items, existing.get(element), item);
    if (merged !== undefined) result.push(merged);
  };
  for (const [element, item] of existing) {
    if (!wanted.has(element)) {
      result.push(item);
      continue;
    }
    if (!pending.some(([other]) => other === element)) continue;
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      emit(...next);
      if (next[0] === element) break;
    }
  }
  for (const next of pending) emit(...next);
  return result;
}

/** Returns the value without the fields of a set, and without parents that become empty. */
export function removeFields(schema: Schema | undefined, value: Json, fields: FieldSet): Json | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0) return value;
    if (listKind(schema) === 'atomic') return value;
    const result: Json[] = [];
    for (const item of value) {
      const node = fields.children.get(itemElement(schema, item));
      if (node?.member) continue;
      const kept = node === undefined || isEmpty(node) ? item : removeFields(schema?.items, item, node);
      if (kept !== undefined) result.push(kept);
    }
    return result.length === 0 ? undefined : result;
  }
  if (!isObject(value) || isAtomicMap(schema)) return value;
  const entries = Object.entries(value);
  if (entries.length === 0) return value;
  const result: JsonObject = {};
  let size = 0;
  for (const [key, child] of entries) {
    if (child === undefined) continue;
    const node = fields.children.get(`f:${key}`);
    if (node?.member) continue;
    const kept = node === undefined || isEmpty(node) ? child : removeFields(childSchema(schema, key), child, node);
    // The API server keeps a field as null when its content is removed.
    result[key] = kept === undefined ? null : kept;
    size++;
  }
  return size === 0 ? undefined : result;
}

/** Returns the set with the declared parents of its paths: removing all fields then removes the parent. */
export function withNamedParents(schema: Schema | undefined, set: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const isField = element.startsWith('f:');
    const key = element.slice(2);
    const nested = withNamedParents(isField ? childSchema(schema, key) : schema?.items, child);
    const named = isField && schema?.properties?.[key] !== undefined;
    children.set(element, named && child.children.size > 0 ? { ...nested, member: true } : nested);
  }
  return { member: set.member, children };
}
