import { isRecord } from '../shapes.ts';

/**
 * Returns the JSON merge patch (RFC 7386) that turns `live` into `wanted`: removed keys become `null`, lists are
 * replaced as a whole. Returns undefined when nothing differs.
 */
export function mergeDiff(live: unknown, wanted: unknown): unknown {
  if (!isRecord(live) || !isRecord(wanted)) {
    return JSON.stringify(live) === JSON.stringify(wanted) ? undefined : (wanted ?? null);
  }
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(live)) if (live[key] !== undefined && wanted[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const difference = mergeDiff(live[key], value);
    if (difference !== undefined) patch[key] = difference;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
