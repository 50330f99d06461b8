/** Creates turns, of which so many can be taken at a time. Callers get them in the order in which they asked. */
export function createTurns(most: number) {
  let taken = 0;
  const waiting = new Set<() => void>();
  const begin = () => {
    taken++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      taken--;
      const [next] = waiting;
      next?.();
    };
  };
  return {
    /** Resolves when it is this caller's turn, with a function that ends it. @throws the signal's reason */
    async take(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted();
      if (taken < most) return begin();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const next = () => {
        waiting.delete(next);
        // The turn begins here and not when the caller continues, or another caller could take it in between.
        resolve(begin());
      };
      const abort = () => {
        if (waiting.delete(next)) reject(signal.reason);
      };
      waiting.add(next);
      signal.addEventListener('abort', abort);
      return promise.finally(() => signal.removeEventListener('abort', abort));
    },
  };
}
