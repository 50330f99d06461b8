import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import { childSchema, type Schema } from '../schema.ts';

/**
 * A set of field paths as a tree, one level per path element. Elements are written as in `managedFields`:
 * `f:name`, `k:{"key":"value"}` for an item of a list map, `v:"value"` for an item of a list set.
 */
export interface FieldSet {
  /** The path to this node is itself in the set. */
  member: boolean;
  children: Map<string, FieldSet>;
}

export const emptySet = (): FieldSet => ({ member: false, children: new Map() });

const none: FieldSet = { member: false, children: new Map() };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** Returns the child node; creates it when it is missing. */
export function descend(set: FieldSet, element: string): FieldSet {
  let child = set.children.get(element);
  if (child === undefined) {
    child = emptySet();
    set.children.set(element, child);
  }
  return child;
}

function combine(one: FieldSet, other: FieldSet, keep: (one: boolean, other: boolean) => boolean): FieldSet {
  const result: FieldSet = { member: keep(one.member, other.member), children: new Map() };
  // Each element once: twice would double the time with each level.
  for (const element of new Set([...one.children.keys(), ...other.children.keys()])) {
    const child = combine(one.children.get(element) ?? none, other.children.get(element) ?? none, keep);
    if (!isEmpty(child)) result.children.set(element, child);
  }
  return result;
}

export const union = (one: FieldSet, other: FieldSet) => combine(one, other, (a, b) => a || b);
export const difference = (one: FieldSet, other: FieldSet) => combine(one, other, (a, b) => a && !b);

/** Removes the paths of the other set and everything below them. */
export function withoutTrees(set: FieldSet, trees: FieldSet): FieldSet {
  const result: FieldSet = { member: set.member && !trees.member, children: new Map() };
  if (trees.member) return result;
  for (const [element, child] of set.children) {
    const tree = trees.children.get(element);
    const rest = tree === undefined ? child : withoutTrees(child, tree);
    if (!isEmpty(rest)) result.children.set(element, rest);
  }
  return result;
}

export function sameSet(one: FieldSet, other: FieldSet): boolean {
  if (one.member !== other.member || one.children.size !== other.children.size) return false;
  for (const [element, child] of one.children) {
    const match = other.children.get(element);
    if (match === undefined || !sameSet(child, match)) return false;
  }
  return true;
}

/** Returns the set as `fieldsV1`. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const result: JsonObject = {};
  if (set.member && set.children.size > 0) result['.'] = {};
  for (const element of [...set.children.keys()].sort()) {
    result[element] = toFieldsV1(set.children.get(element) ?? none);
  }
  return result;
}

/** Parses `fieldsV1`. */
export function fromFieldsV1(fields: Json | undefined): FieldSet {
  const set = emptySet();
  if (!isObject(fields)) return set;
  for (const [element, child] of Object.entries(fields)) {
    if (element === '.') continue;
    const node = fromFieldsV1(child);
    if (node.children.size === 0 || (isObject(child) && '.' in child)) node.member = true;
    set.children.set(element, node);
  }
  return set;
}

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
