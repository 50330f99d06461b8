/** A number of turns, of which so many can be taken at a time. */
export interface Turns {
  /** Resolves when it is this caller's turn, with a function that ends it. @throws the signal's reason */
  take(signal: AbortSignal): Promise<() => void>;
}

/** Creates turns, which are given in the order in which they were asked for. */
export function createTurns(most: number): Turns {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const end = () => {
    taken--;
    waiting.shift()?.();
  };
  const begin = () => {
    taken++;
    let isOver = false;
    return () => {
      if (!isOver) end();
      isOver = true;
    };
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (taken < most) return begin();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => {
        waiting.splice(waiting.indexOf(resolve), 1);
        reject(signal.reason);
      };
      waiting.push(resolve);
      signal.addEventListener('abort', abort);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
      return begin();
    },
  };
}
