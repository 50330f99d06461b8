/** The code that the event loop is executing: a function with the key of its run, or a part such as `watcher`. */
export interface Activity {
  function: string;
  /** `cluster/namespace/name`; for the watcher the cluster and the resource. */
  key: string;
}

/** How long an activity went on without another one being entered. */
export interface Stretch {
  activity: Activity | undefined;
  ms: number;
}

let current: Activity | undefined;
let since = performance.now();
let longest: Stretch = { activity: undefined, ms: 0 };

/**
 * Records that this code continues now. To be called when it starts and whenever an awaited call returns to it: then the
 * time until the next activity is entered belongs to it. Costs less than a microsecond.
 */
export function enter(activity: Activity): void {
  endStretch();
  current = activity;
}

/** Records that this code has ended, unless other code runs already. */
export function leave(activity: Activity): void {
  if (current !== activity) return;
  endStretch();
  current = undefined;
}

/**
 * Returns the longest stretch since the last call, and starts again. While the event loop is not blocked, stretches
 * also contain the time in which nothing happens, so the caller asks often. Each thread has its own.
 */
export function longestStretch(): Stretch {
  endStretch();
  const found = longest;
  longest = { activity: current, ms: 0 };
  return found;
}

/** Returns the activity entered last. */
export function currentActivity(): Activity | undefined {
  return current;
}

function endStretch(): void {
  const now = performance.now();
  if (now - since > longest.ms) longest = { activity: current, ms: now - since };
  since = now;
}

/** Returns an object whose calls enter the activity whenever a promise of theirs settles. */
export function attributed<T extends object>(target: T, activity: Activity): T {
  return new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const result: unknown = Reflect.apply(value, inner, given);
        return result instanceof Promise ? result.finally(() => enter(activity)) : result;
      };
    },
  });
}
