/** The code that the event loop is executing: a function with the key of its run, or a part such as `watcher`. */
export interface Activity {
  function: string;
  /** `cluster/namespace/name`; for the watcher the cluster and the resource. */
  key: string;
}

let current: Activity | undefined;

/**
 * Records that this code continues now. To be called when it starts and whenever an awaited call returns to it: then the
 * last activity entered before a block of the event loop is the one that blocked it. Costs one assignment.
 */
export function enter(activity: Activity): void {
  current = activity;
}

/** Records that this code has ended, unless other code runs already. */
export function leave(activity: Activity): void {
  if (current === activity) current = undefined;
}

/** Returns the activity entered last. Each thread has its own. */
export function currentActivity(): Activity | undefined {
  return current;
}
