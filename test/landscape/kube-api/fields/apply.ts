import type { JsonObject } from '../json.ts';
import type { Schema } from '../schema.ts';
import { difference, type FieldSet, intersection, isEmpty, sameSet, union } from './field-set.ts';
import { type Ignored, identity, ignore, lose, type Managers, strip, type Writer } from './managed-fields.ts';
import { merge, removeFields, withNamedParents } from './merge.ts';
import { compare, fieldsOf, isSame } from './walk.ts';

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
  const named = (set: FieldSet) => withNamedParents(schema, set);
  const pruned = removeFields(schema, merged, named(last)) ?? {};
  const all = named(fieldsOf(schema, merged));

  let managed: FieldSet = { member: false, children: new Map() };
  for (const { fields } of managers.values()) managed = union(managed, fields);
  const notOwned = difference(all, union(named(fieldsOf(schema, pruned)), named(managed)));
  const withOwned = removeFields(schema, merged, notOwned) ?? {};

  // Fields without an owner that this manager did not apply stay.
  const dropped = intersection(difference(all, named(fieldsOf(schema, withOwned))), named(last));
  return (removeFields(schema, merged, dropped) ?? {}) as JsonObject;
}
