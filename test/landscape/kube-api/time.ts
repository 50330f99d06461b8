let clock = () => new Date();

/** The present as the API writes it: whole seconds. */
export function now(): string {
  return `${clock().toISOString().slice(0, 19)}Z`;
}

/** All API servers of this process take the time from another clock. @returns what gives them back their own */
export function useClock(other: () => Date): () => void {
  const former = clock;
  clock = other;
  return () => {
    clock = former;
  };
}
