import { isDeepStrictEqual } from 'node:util';

/**
 * Returns the JSON merge patch (RFC 7386) that turns `live` into `desired`: removed keys become `null`, lists are
 * replaced as a whole. undefined: there is nothing to change.
 */
export function mergePatchBetween(live: unknown, desired: unknown): unknown {
  if (!isObject(live) || !isObject(desired)) return isDeepStrictEqual(live, desired) ? undefined : (desired ?? null);
  const keys = [...new Set([...Object.keys(live), ...Object.keys(desired)])];
  const changes = keys
    .map((key) => [key, mergePatchBetween(live[key], desired[key])])
    .filter(([, change]) => change !== undefined);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
