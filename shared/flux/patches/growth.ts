import { asObject } from '../../config/values.ts';

/**
 * Returns how many characters of JSON a value has more than before. Patches share what they do not change, so only the rest
 * is read: schemas of CRDs are long.
 */
export function growth(before: unknown, after: unknown): number {
  if (before === after) return 0;
  const [old, next] = [asObject(before), asObject(after)];
  if (old !== undefined && next !== undefined) return growthOfFields(old, next);
  if (Array.isArray(before) && Array.isArray(after)) return growthOfEntries(before, after);
  return lengthOf(after) - lengthOf(before);
}

function growthOfFields(before: Record<string, unknown>, after: Record<string, unknown>): number {
  let sum = 0;
  for (const name of Object.keys(after)) {
    sum += Object.hasOwn(before, name) ? growth(before[name], after[name]) : lengthOfField(name, after[name]);
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) sum -= lengthOfField(name, before[name]);
  }
  return sum;
}

/** Entries that are in both lists cancel out, wherever they stand. One that changed is compared with its former self. */
function growthOfEntries(before: readonly unknown[], after: readonly unknown[]): number {
  const shared = new Map<unknown, number>();
  for (const entry of before) shared.set(entry, (shared.get(entry) ?? 0) + 1);
  const added = after.filter((entry) => {
    const count = shared.get(entry) ?? 0;
    if (count > 0) shared.set(entry, count - 1);
    return count === 0;
  });
  const removed = [...shared].flatMap(([entry, count]) => Array<unknown>(count).fill(entry));
  const [one, other] = [removed[0], added[0]];
  if (removed.length === 1 && added.length === 1) return growth(one, other);
  return sumOf(added) - sumOf(removed);
}

function sumOf(entries: readonly unknown[]): number {
  return entries.reduce<number>((sum, entry) => sum + lengthOf(entry) + 1, 0);
}

function lengthOfField(name: string, value: unknown): number {
  return name.length + lengthOf(value) + 4;
}

/** Returns how many characters of JSON a value has. */
export function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
