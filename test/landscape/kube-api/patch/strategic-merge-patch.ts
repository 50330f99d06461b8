import { asArray, equal, isObject, type Json, type JsonObject } from '../json.ts';
import { childSchema, type Schema } from '../schema.ts';

const orderDirective = '$setElementOrder/';
const deleteDirective = '$deleteFromPrimitiveList/';
const retainDirective = '$retainKeys';

/** Applies a strategic merge patch: as a merge patch, but lists of built-in types merge by their declared key. */
export function strategicMergePatch(schema: Schema | undefined, target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  if (patch.$patch === 'replace') return withoutDirectives(patch);
  if (patch.$patch === 'delete') return {};
  const retained = asArray(patch[retainDirective]);
  const result: JsonObject = isObject(target) ? { ...target } : {};
  if (retainDirective in patch) {
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
  }
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || key === '$patch' || key === retainDirective) continue;
    if (key.startsWith(orderDirective)) continue;
    if (key.startsWith(deleteDirective)) {
      const name = key.slice(deleteDirective.length);
      const gone = asArray(value);
      result[name] = asArray(result[name]).filter((item) => !gone.some((other) => equal(item, other)));
    } else if (value === null) delete result[key];
    else result[key] = patchField(childSchema(schema, key), result[key], value, asArray(patch[orderDirective + key]));
  }
  return result;
}

function patchField(schema: Schema | undefined, target: Json | undefined, patch: Json, order: Json[]): Json {
  if (!Array.isArray(patch)) return strategicMergePatch(schema, target, patch);
  const merges = schema?.['x-kubernetes-patch-strategy']?.split(',').includes('merge') ?? false;
  const replaces = patch.some((item) => isObject(item) && item.$patch === 'replace');
  if (!merges || replaces) return patch.filter((item) => !(isObject(item) && item.$patch === 'replace'));
  const live = asArray(target);
  const key = schema?.['x-kubernetes-patch-merge-key'];
  if (key === undefined)
    return sorted([...live, ...patch.filter((item) => !live.some((other) => equal(item, other)))], order);
  return mergeByKey(schema?.items, key, live, patch, order);
}

function mergeByKey(schema: Schema | undefined, key: string, live: Json[], patch: Json[], order: Json[]): Json[] {
  const keyOf = (item: Json) => (isObject(item) ? JSON.stringify(item[key]) : JSON.stringify(item));
  const existing = new Map(live.map((item) => [keyOf(item), item]));
  const fresh: Json[] = [];
  for (const item of patch) {
    const known = existing.get(keyOf(item));
    if (isObject(item) && item.$patch === 'delete') existing.delete(keyOf(item));
    else if (known === undefined) fresh.push(strategicMergePatch(schema, undefined, item));
    else existing.set(keyOf(item), strategicMergePatch(schema, known, item));
  }
  // Without an order from the client the API server puts new items first.
  return sorted([...fresh, ...existing.values()], order.map(keyOf), keyOf);
}

/** Sorts the items that the client listed in its order, after all others. */
function sorted(items: Json[], order: readonly Json[], keyOf: (item: Json) => Json = (item) => item): Json[] {
  if (order.length === 0) return items;
  const position = (item: Json) => order.indexOf(keyOf(item));
  const known = items.filter((item) => position(item) >= 0).sort((one, other) => position(one) - position(other));
  return [...items.filter((item) => position(item) < 0), ...known];
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const { $patch: _, ...rest } = patch;
  return rest;
}
