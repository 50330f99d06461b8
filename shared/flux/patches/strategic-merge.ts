import { quote } from '../../config/quote.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { mergeKeysOf } from './merge-keys.ts';
import { PatchProblem } from './problem.ts';

/** The key of a directive in a patch. */
const DIRECTIVE = '$patch';

/** Where a value is. */
interface Place {
  kind: string;
  path: string;
}

/**
 * Applies a strategic merge patch as kustomize does; undefined: the patch deletes the object. Neither argument is
 * modified. (decision 59)
 * @throws PatchProblem
 */
export function strategicMerge(object: JsonObject, patch: JsonObject): JsonObject | undefined {
  const kind = typeof object.kind === 'string' ? object.kind : '';
  return mergeMaps(object, patch, { kind, path: '' });
}

function mergeValues(value: unknown, patch: unknown, place: Place): unknown {
  if (patch === null) return undefined;
  if (Array.isArray(patch)) return mergeLists(value, patch, place);
  const map = asObject(patch);
  if (map === undefined) {
    if (typeof value === 'object' && value !== null) throw wrongType(place, value, 'a single value');
    return patch;
  }
  if (value !== undefined && value !== null && asObject(value) === undefined)
    throw wrongType(place, value, 'an object');
  return mergeMaps(asObject(value), map, place);
}

function wrongType({ path }: Place, value: unknown, given: string): PatchProblem {
  const there = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : 'a single value';
  return new PatchProblem(`has ${given} at ${path}, which is ${there}; correct it`);
}

function mergeMaps(value: JsonObject | undefined, patch: JsonObject, place: Place): JsonObject | undefined {
  const { [DIRECTIVE]: directive, ...fields } = patch;
  if (directive === 'delete') return undefined;
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') throw unknownDirective(place);
  const unknown = Object.keys(fields).find((name) => name.startsWith('$'));
  if (unknown !== undefined) {
    throw new PatchProblem(
      `has the directive ${unknown} at ${place.path || 'its top'}, which kustomize ignores; remove it`,
    );
  }
  const base = directive === 'replace' ? {} : (value ?? {});
  const result = new Map(Object.entries(base));
  for (const [name, field] of Object.entries(fields)) {
    const path = place.path === '' ? name : `${place.path}.${name}`;
    const merged = mergeValues(Object.hasOwn(base, name) ? base[name] : undefined, field, { ...place, path });
    if (merged === undefined) result.delete(name);
    else result.set(name, merged);
  }
  return Object.fromEntries(result);
}

function unknownDirective({ path }: Place): PatchProblem {
  return new PatchProblem(`has an unknown directive $patch at ${path || 'its top'}; use delete, replace or merge`);
}

function mergeLists(value: unknown, patch: readonly unknown[], place: Place): unknown {
  if (value !== undefined && value !== null && !Array.isArray(value)) throw wrongType(place, value, 'a list');
  const keys = mergeKeysOf(place.kind, place.path);
  if (keys === undefined) {
    if (patch.some(hasDirective)) {
      throw new PatchProblem(`has a directive $patch in ${place.path}, which a patch replaces as a whole; remove it`);
    }
    return patch;
  }
  const directives = patch.map(asObject).filter((entry) => entry && isDirective(entry));
  const directive = directives[0]?.[DIRECTIVE];
  if (directive === 'delete') return undefined;
  const entries = patch.map((entry) => entryOf(entry, keys, place)).filter((entry) => !isDirective(entry));
  const twice = entries.find((entry, index) => entries.slice(0, index).some((other) => isSame(other, entry, keys)));
  if (twice !== undefined) {
    const which = keys.map((key) => `${key} ${quote(String(twice[key]))}`).join(' and ');
    throw new PatchProblem(
      `has two entries of ${place.path} with ${which}, of which kustomize ignores one; remove one`,
    );
  }
  return mergeEntries(directive === 'replace' ? [] : (value ?? []), entries, keys, place);
}

function hasDirective(entry: unknown): boolean {
  return Object.hasOwn(asObject(entry) ?? {}, DIRECTIVE);
}

/** An entry that is nothing but a directive is about the list. */
function isDirective(entry: JsonObject): boolean {
  return Object.keys(entry).length === 1 && hasDirective(entry);
}

function entryOf(entry: unknown, keys: readonly string[], { path }: Place): JsonObject {
  const map = asObject(entry);
  // Without the second one of two keys, kustomize ignores some entries.
  const missing = keys.find((key) => map === undefined || !['string', 'number'].includes(typeof map[key]));
  if (map === undefined || (missing !== undefined && !isDirective(map))) {
    throw new PatchProblem(`has an entry of ${path} without ${missing}, by which entries are merged; add it`);
  }
  if (map[DIRECTIVE] === 'replace' && !isDirective(map)) {
    throw new PatchProblem(`has $patch: replace in an entry of ${path}, which kustomize ignores; replace its fields`);
  }
  return map;
}

/**
 * Orders entries as kustomize does: those of the patch come first. In lists with two keys only the new ones do, and
 * the others keep their places.
 */
function mergeEntries(
  values: readonly unknown[],
  patch: readonly JsonObject[],
  keys: readonly string[],
  place: Place,
): unknown[] {
  const below = { ...place, path: `${place.path}[]` };
  let first: unknown[] = [];
  let rest = [...values];
  for (const entry of patch) {
    const isIt = (value: unknown) => isSame(value, entry, keys);
    const current = [...first, ...rest].find(isIt);
    const merged = mergeMaps(asObject(current), entry, below);
    const replaced = (list: unknown[]) => list.flatMap((value) => (isIt(value) ? (merged ?? []) : [value]));
    const staysInPlace = first.some(isIt) || (keys.length > 1 && current !== undefined);
    first = staysInPlace ? replaced(first) : [...first, ...(merged ? [merged] : [])];
    rest = staysInPlace ? replaced(rest) : rest.filter((value) => !isIt(value));
  }
  return [...first, ...rest];
}

function isSame(value: unknown, entry: JsonObject, keys: readonly string[]): boolean {
  const map = asObject(value);
  return map !== undefined && keys.every((key) => String(map[key]) === String(entry[key]));
}
