import { PatchProblem } from '../../config/patches/parse.ts';
import { quote } from '../../config/quote.ts';
import { asObject, type JsonObject } from '../../config/values.ts';

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
  const top = place.path || 'its top';
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge')
    throw new PatchProblem(`has an unknown directive $patch at ${top}; use delete, replace or merge`);
  const unknown = Object.keys(fields).find((name) => name[0] === '$');
  if (unknown !== undefined)
    throw new PatchProblem(`has the directive ${unknown} at ${top}, which kustomize ignores; remove it`);
  const base = directive === 'replace' ? {} : (value ?? {});
  const result: JsonObject = { ...base };
  for (const [name, field] of Object.entries(fields)) {
    const below = { ...place, path: place.path === '' ? name : `${place.path}.${name}` };
    const merged = mergeValues(Object.hasOwn(base, name) ? base[name] : undefined, field, below);
    if (merged === undefined) delete result[name];
    else set(result, name, merged);
  }
  return result;
}

function set(object: JsonObject, name: string, value: unknown): void {
  // An assignment would replace the prototype.
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
  else object[name] = value;
}

function mergeLists(value: unknown, patch: readonly unknown[], place: Place): unknown {
  if (value !== undefined && value !== null && !Array.isArray(value)) throw wrongType(place, value, 'a list');
  const keys = Object.hasOwn(mergeKeys, place.kind) ? mergeKeys[place.kind]?.[place.path] : undefined;
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
  const known = new Set<string>();
  for (const entry of entries) {
    const key = keyOf(entry, keys);
    if (key !== undefined && known.has(key)) throw repeatedEntry(entry, keys, place);
    if (key !== undefined) known.add(key);
  }
  return mergeEntries(directive === 'replace' ? [] : (value ?? []), entries, keys, place);
}

function repeatedEntry(entry: JsonObject, keys: readonly string[], { path }: Place): PatchProblem {
  const which = keys.map((key) => `${key} ${quote(String(entry[key]))}`).join(' and ');
  return new PatchProblem(`has two entries of ${path} with ${which}, of which kustomize ignores one; remove one`);
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
  const current = new Map<string | undefined, unknown>();
  for (const value of values.toReversed()) current.set(keyOf(value, keys), value);
  const first: unknown[] = [];
  const merged = new Map<string | undefined, JsonObject | undefined>();
  for (const entry of patch) {
    const key = keyOf(entry, keys);
    const result = mergeMaps(asObject(current.get(key)), entry, below);
    const staysInPlace = keys.length > 1 && current.has(key);
    merged.set(key, staysInPlace ? result : undefined);
    if (!staysInPlace && result !== undefined) first.push(result);
  }
  const rest = values.flatMap((value) => {
    const key = keyOf(value, keys);
    return key !== undefined && merged.has(key) ? (merged.get(key) ?? []) : [value];
  });
  return [...first, ...rest];
}

/** The identity of an entry; undefined: it is no object. Lists may be long, so entries are found by it. */
function keyOf(value: unknown, keys: readonly string[]): string | undefined {
  const map = asObject(value);
  const [first = '', ...others] = keys;
  if (map === undefined || others.length === 0) return map && String(map[first]);
  return JSON.stringify(keys.map((key) => String(map[key])));
}

/**
 * Lists of which kustomize merges the entries, and the fields by which it knows an entry, as in the OpenAPI schemas of
 * Kubernetes. A patch replaces all other lists. `[]` stands for an entry.
 */
const ofPods: Record<string, readonly string[]> = {
  containers: ['name'],
  'containers[].env': ['name'],
  'containers[].ports': ['containerPort', 'protocol'],
  'containers[].volumeMounts': ['mountPath'],
  'containers[].volumeDevices': ['devicePath'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
};

const POD = 'spec.template.spec.';

const mergeKeys: Record<string, Record<string, readonly string[]>> = {
  Deployment: Object.fromEntries(
    Object.entries(ofPods).flatMap(([path, keys]) =>
      [path, path.replace('containers', 'initContainers')].map((one) => [POD + one, keys]),
    ),
  ),
  Service: { 'spec.ports': ['port', 'protocol'] },
  ServiceAccount: { secrets: ['name'], imagePullSecrets: ['name'] },
};
