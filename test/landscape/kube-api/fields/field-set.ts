import { isObject, type Json, type JsonObject } from '../json.ts';

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
export const intersection = (one: FieldSet, other: FieldSet) => combine(one, other, (a, b) => a && b);
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
