import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import { childSchema, type Schema } from '../schema.ts';
import { descend, emptySet, type FieldSet, isEmpty } from './field-set.ts';

/** How items of a list are identified; an atomic list is one value. */
export function listKind(schema: Schema | undefined): 'atomic' | 'set' | 'map' {
  const type = schema?.['x-kubernetes-list-type'];
  return type === 'set' || type === 'map' ? type : 'atomic';
}

export function isAtomicMap(schema: Schema | undefined): boolean {
  return schema?.['x-kubernetes-map-type'] === 'atomic';
}

/** Returns the path element of a list item: its keys for a list map, its value for a set. */
export function itemElement(schema: Schema | undefined, item: Json): string {
  if (listKind(schema) === 'set') return `v:${JSON.stringify(item)}`;
  const key: JsonObject = {};
  const names = schema?.['x-kubernetes-list-map-keys'] ?? [];
  for (const name of [...names].sort()) {
    const value = isObject(item) ? item[name] : undefined;
    // An absent key counts as its default, for example a port's protocol.
    const chosen = value === undefined ? schema?.items?.properties?.[name]?.default : value;
    if (chosen !== undefined) key[name] = chosen;
  }
  return `k:${JSON.stringify(key)}`;
}

const isMember = (schema: Schema | undefined, key: string) => schema?.properties?.[key] === undefined;
const isEmptyObject = (value: Json) => isObject(value) && Object.keys(value).length === 0;

/** Returns the fields that a value sets: its applier owns them. */
export function fieldsOf(schema: Schema | undefined, value: Json): FieldSet {
  const set = emptySet();
  collect(schema, value, set);
  return set;
}

function collect(schema: Schema | undefined, value: Json, set: FieldSet): void {
  if (Array.isArray(value)) {
    if (listKind(schema) === 'atomic') {
      set.member = true;
      return;
    }
    for (const item of value) {
      const node = descend(set, itemElement(schema, item));
      collect(schema?.items, item, node);
      node.member = true;
    }
  } else if (isObject(value)) {
    if (isAtomicMap(schema)) {
      set.member = true;
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      if (child === undefined) continue;
      const node = emptySet();
      collect(childSchema(schema, key), child, node);
      if (child === null || isEmptyObject(child) || isMember(schema, key)) node.member = true;
      if (!isEmpty(node)) set.children.set(`f:${key}`, node);
    }
  } else set.member = true;
}

/** The difference between two objects. */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}

/** Compares two values of a type field by field. */
export function compare(schema: Schema | undefined, old: Json | undefined, now: Json | undefined): Comparison {
  const result = { added: emptySet(), modified: emptySet(), removed: emptySet() };
  const path: string[] = [];
  walk(schema, old, now);
  return result;

  function mark(set: FieldSet): void {
    let node = set;
    for (const element of path) node = descend(node, element);
    node.member = true;
  }

  function walk(schema: Schema | undefined, old: Json | undefined, now: Json | undefined): void {
    if (old === undefined && now === undefined) return;
    if (old === now) return;
    const granular = isGranular(schema, old) || isGranular(schema, now);
    if (!granular) {
      if (old === undefined) mark(result.added);
      else if (now === undefined) mark(result.removed);
      else if (!equal(old, now)) mark(result.modified);
      return;
    }
    // A change between scalar, list and object modifies the value and everything below it.
    if (old !== undefined && now !== undefined && isOtherShape(old, now)) mark(result.modified);
    if (Array.isArray(old) || Array.isArray(now))
      lists(schema, Array.isArray(old) ? old : [], Array.isArray(now) ? now : []);
    if (isObject(old) || isObject(now)) maps(schema, isObject(old) ? old : {}, isObject(now) ? now : {});
    if (old === undefined) mark(result.added);
    else if (now === undefined) mark(result.removed);
  }

  function lists(schema: Schema | undefined, old: Json[], now: Json[]): void {
    const before = new Map(old.map((item) => [itemElement(schema, item), item]));
    const after = new Map(now.map((item) => [itemElement(schema, item), item]));
    for (const element of new Set([...before.keys(), ...after.keys()])) {
      path.push(element);
      walk(schema?.items, before.get(element), after.get(element));
      path.pop();
    }
  }

  function maps(schema: Schema | undefined, old: JsonObject, now: JsonObject): void {
    const visit = (key: string) => {
      path.push(`f:${key}`);
      walk(childSchema(schema, key), old[key], now[key]);
      path.pop();
    };
    for (const key of Object.keys(old)) visit(key);
    for (const key of Object.keys(now)) if (old[key] === undefined) visit(key);
  }
}

/** Returns whether the fields of a value are compared one by one; empty values are leaves, so `{}` counts. */
function isGranular(schema: Schema | undefined, value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0 && listKind(schema) !== 'atomic';
  return isObject(value) && !isAtomicMap(schema) && Object.keys(value).length > 0;
}

/** Returns whether two values have the same shape; null has any. */
function isOtherShape(old: Json, now: Json): boolean {
  return old !== null && now !== null && shape(old) !== shape(now);
}

function shape(value: Json): string {
  return Array.isArray(value) ? 'list' : isObject(value) ? 'map' : 'scalar';
}
