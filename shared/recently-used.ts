/**
 * Keeps the values that were used last, up to a total weight.
 * @param most the largest sum of the weights, in the unit of the caller
 */
export function createRecentlyUsed<Value>(most: number) {
  // The one that was used longest ago comes first.
  const entries = new Map<string, { value: Value; weight: number }>();
  let total = 0;
  const remove = (key: string) => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    /** Keeps a value, and forgets those that were used longest ago. One that is heavier than the total is not kept. */
    set(key: string, value: Value, weight: number): void {
      remove(key);
      if (weight > most) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= most) return;
        remove(oldest);
      }
    },
  };
}
