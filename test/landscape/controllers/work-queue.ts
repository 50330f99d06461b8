import type { ObjectName } from '../client/client.ts';

export interface WorkQueueOptions {
  /**
   * @returns after how many milliseconds to run again; undefined: only when the key is added again
   * @throws for a retry with exponential back-off
   */
  reconcile(key: string): Promise<number | undefined>;
  /** As the default rate limiter of controller-runtime: 5 ms, doubling, at most 1000 s. */
  baseMs?: number;
  maxMs?: number;
}

/** A queue of keys like client-go's: never two runs of one key at a time; a key added during its run runs again. */
export function createWorkQueue({ reconcile, baseMs = 5, maxMs = 1_000_000 }: WorkQueueOptions) {
  const running = new Map<string, Promise<void>>();
  const dirty = new Set<string>();
  const failures = new Map<string, number>();
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;

  const addAfter = (key: string, ms: number) => {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      add(key);
    }, ms);
    timers.add(timer);
  };

  const run = async (key: string) => {
    try {
      const afterMs = await reconcile(key);
      failures.delete(key);
      if (afterMs !== undefined) addAfter(key, afterMs);
    } catch {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      addAfter(key, Math.min(maxMs, baseMs * 2 ** count));
    } finally {
      running.delete(key);
      if (dirty.delete(key)) add(key);
    }
  };

  const add = (key: string) => {
    if (stopped) return;
    if (running.has(key)) dirty.add(key);
    else
      running.set(
        key,
        Promise.resolve().then(() => run(key)),
      );
  };

  return {
    add,
    /** Takes no more keys and waits for current runs. */
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}

/** Something that runs until it is stopped. */
export interface Controller {
  stop(): Promise<void>;
}

/** Returns `namespace/name`, or `name` for cluster-scoped objects. */
export function objectText({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Reverses `objectText`. */
export function nameOf(text: string): ObjectName {
  const [first = '', second] = text.split('/');
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of a Go duration such as `1m30s`. */
export function milliseconds(duration: string): number {
  return [...duration.matchAll(/([\d.]+)(ms|[smh])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}

/** Returns RFC 3339 with seconds, as metav1.Time. */
export function seconds(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}
