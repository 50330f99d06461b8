import type { Applied } from '../../../shared/gardener/types.ts';

/** Returns a record that no longer names these objects. */
export function withoutObjects(applied: Applied, gone: readonly string[]): Applied {
  const rest = Object.entries(applied.objects).map(([name, refs]) => [name, refs.filter((ref) => !gone.includes(ref))]);
  return { ...applied, objects: Object.fromEntries(rest) };
}
