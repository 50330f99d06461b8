/** A limit on how many things happen at once. */
export interface Slots {
  /** Returns a function that frees the slot, once one is free; undefined when the signal aborts before that. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
}

/** Gives out so many slots, to those who wait in their order. */
export function createSlots(count: number): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();
  const free = () => {
    taken--;
    const [next] = waiting;
    next?.();
  };
  return {
    async take(signal) {
      if (signal.aborted) return undefined;
      if (taken >= count) {
        const isFree = await new Promise<boolean>((resolve) => {
          const next = () => {
            waiting.delete(next);
            // Here, so that the slot is not taken before the waiting code runs.
            taken++;
            resolve(true);
          };
          waiting.add(next);
          signal.addEventListener('abort', () => resolve(!waiting.delete(next)), { once: true });
        });
        return isFree ? free : undefined;
      }
      taken++;
      return free;
    },
  };
}
