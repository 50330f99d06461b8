/** A source of random numbers that repeats for the same seed (mulberry32). */
export interface Random {
  /** Returns a number from 0 up to, without, 1. */
  next(): number;
  /** Returns one of the values. */
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** @param seed any whole number */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    pick: <T>(values: readonly [T, ...T[]]) => values[Math.floor(next() * values.length)] ?? values[0],
  };
}
