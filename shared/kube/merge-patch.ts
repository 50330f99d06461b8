type Json = Record<string, unknown>;

/**
 * Returns the JSON merge patch (RFC 7386) that turns `live` into `wanted`: removed keys become `null`, lists are
 * replaced as a whole. Returns undefined when nothing differs.
 */
export function mergeDiff(live: unknown, wanted: unknown): unknown {
  if (!isObject(live) || !isObject(wanted)) return equal(live, wanted) ? undefined : withoutUndefined(wanted);
  const patch: Json = {};
  for (const key of Object.keys(live)) if (wanted[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const difference = mergeDiff(live[key], value);
    if (difference !== undefined) patch[key] = difference;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function withoutUndefined(value: unknown): unknown {
  return value === undefined ? null : value;
}
