/** A number of turns, of which so many can be taken at a time. */
export interface Turns {
  /**
   * Resolves when it is this caller's turn, with a function that ends it.
   * @param owner owners take turns, so that one who asks often does not delay the others. Default: all are one owner
   * @throws the signal's reason
   */
  take(signal: AbortSignal, owner?: string): Promise<() => void>;
  /** Returns whether a caller waits for a turn. */
  areWanted(): boolean;
}

/** Creates turns, which the callers of one owner get in the order in which they asked. */
export function createTurns(most: number): Turns {
  let taken = 0;
  /** By owner; the owner whose turn is next comes first. */
  const waiting = new Map<string, Set<() => void>>();
  const begin = () => {
    taken++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      taken--;
      const [first] = waiting;
      if (first === undefined) return;
      const [owner, callers] = first;
      waiting.delete(owner);
      waiting.set(owner, callers);
      const [next] = callers;
      next?.();
    };
  };
  return {
    areWanted: () => waiting.size > 0,
    async take(signal, owner = '') {
      signal.throwIfAborted();
      if (taken < most) return begin();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const callers = waiting.get(owner) ?? new Set();
      const leave = () => {
        if (!callers.delete(next)) return false;
        if (callers.size === 0) waiting.delete(owner);
        return true;
      };
      const next = () => {
        leave();
        // The turn begins here and not when the caller continues, or another caller could take it in between.
        resolve(begin());
      };
      const abort = () => {
        if (leave()) reject(signal.reason);
      };
      waiting.set(owner, callers.add(next));
      signal.addEventListener('abort', abort);
      return promise.finally(() => signal.removeEventListener('abort', abort));
    },
  };
}

/** Returns the turns as one owner takes them. */
export function turnsOf(owner: string, turns: Turns): Turns {
  return { take: (signal) => turns.take(signal, owner), areWanted: turns.areWanted };
}
