/** Times in ms; tests use shorter ones. */
export interface Timing {
  /** How long changes of one key are gathered: the five objects of a Shoot change within this time. */
  debounceMs: number;
  /** Initial limit of the back-off. */
  backoffMs: number;
  /** Final limit of the back-off. */
  backoffCapMs: number;
  /** Bookmarks arrive every minute: a watch that is silent for a random time between these is considered dead. */
  inactivityMs: [number, number];
  /** How many watches in a row without an event or a bookmark lead to a new list. */
  silentWatches: number;
  /** A watch that ends sooner counts as a failure, so that a server that ends every watch is not asked in a loop. */
  shortWatchMs: number;
  /** Time limit of one watch in seconds, random between these, so that watches move to new API servers. */
  watchSeconds: [number, number];
  /** A seed whose first list takes longer no longer holds up readiness. */
  patienceMs: number;
  /** A loop without progress for longer is stuck: every wait in it is shorter. */
  stuckMs: number;
}

/** The pace of a watcher in production. */
export const defaultTiming: Timing = {
  debounceMs: 10,
  backoffMs: 500,
  backoffCapMs: 30_000,
  inactivityMs: [70_000, 90_000],
  silentWatches: 3,
  shortWatchMs: 5_000,
  watchSeconds: [290, 590],
  patienceMs: 30_000,
  stuckMs: 600_000,
};

/** Returns the time in ms since 1970 as it was at the start, plus the time since then: setting the clock has no effect. */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}

/** Returns a random number between the two. */
export function between([from, to]: [number, number]): number {
  return from + Math.random() * (to - from);
}
