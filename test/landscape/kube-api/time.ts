let clock = () => new Date();

/** Returns the current time as the API writes it: in whole seconds. */
export function now(): string {
  return `${clock().toISOString().slice(0, 19)}Z`;
}

/** Sets the clock of all API servers in this process. @returns a function that restores the former one */
export function useClock(other: () => Date): () => void {
  const former = clock;
  clock = other;
  return () => {
    clock = former;
  };
}
