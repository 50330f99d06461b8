/** Times in ms; tests shorten them. */
export interface Timing {
  /** How long changes of one key are gathered before they are sent: five objects of a Shoot change within it. */
  debounceMs: number;
  /** First limit of the back-off. */
  backoffMs: number;
  /** Last limit of the back-off. */
  backoffCapMs: number;
  /** Bookmarks come every minute: a watch without any sign for longer, chosen anew between these, is dead. */
  inactivityMs: [number, number];
  /** A watch that ends sooner counts as a failure, or a server that ends each at once would be asked in a loop. */
  shortWatchMs: number;
  /** Time limit of one watch in seconds, chosen anew between these, so that watches move to new API servers. */
  watchSeconds: [number, number];
  /** Without any step for longer, a loop is stuck: every wait in it is shorter. */
  stuckMs: number;
}

/** The pace of a watcher in production. */
export const defaultTiming: Timing = {
  debounceMs: 10,
  backoffMs: 500,
  backoffCapMs: 30_000,
  inactivityMs: [70_000, 90_000],
  shortWatchMs: 5_000,
  watchSeconds: [290, 590],
  stuckMs: 600_000,
};

/** Any number between the two. */
export function between([from, to]: [number, number]): number {
  return from + Math.random() * (to - from);
}
