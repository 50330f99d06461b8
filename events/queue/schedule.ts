import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import { LAST_ATTEMPT, type Next, nextOf } from '../retry.ts';
import { ABORT_EARLY_MS, type Run, type Runner, report, runOnce } from '../run.ts';
import { endOfWait } from '../waits.ts';
import type { DeadLetters } from './dead-letters.ts';
import { Heap, type Timed } from './heap.ts';
import {
  afresh,
  isFresh,
  isRetry,
  joins,
  laterPriority,
  lookOf,
  merged,
  type Pending,
  pendingOf,
  replaces,
  retryOf,
} from './pending.ts';
import { Ready, type ReadyKey } from './ready.ts';
import { createSlots, type Tenant, tenantOf } from './slots.ts';

/** A key of one function: it waits, runs, or both. */
interface Entry extends Timed, ReadyKey {
  key: ReconcileKey;
  text: string;
  tenant: Tenant;
  /** Its next run; absent while it runs, unless a change has arrived meanwhile. */
  pending: Pending | undefined;
  /** The run under way. */
  running: { pending: Pending; isLong: boolean; begun: number } | undefined;
  /** Its pending retry is due when this cluster answers again. */
  waitsFor: string | undefined;
}

/** A key whose run starts now. */
export interface Start {
  key: ReconcileKey;
  causes: readonly [Cause, ...Cause[]];
  /** How many changes this run answers besides the first. */
  merged: number;
  attempt: number;
  /** When the oldest cause became due. */
  since: number;
}

/**
 * Decides which key of one function runs when; the time is passed in, in ms of a monotonic clock, so that a clock that is
 * set back delays nothing. A key has one entry: it never runs twice at a time, what arrives while it runs makes one more
 * run afterwards, and it has one pending look, which the outcome of the latest run replaces.
 */
export type Schedule = ReturnType<typeof createSchedule>;

/** The limits of a schedule. */
interface ScheduleOptions {
  /** Slots, see slots.ts. */
  concurrency: number;
  isUp?(cluster: string): boolean;
  /** How many keys that a list or the resync has found may start per second. Default: all at once. */
  backgroundPerSecond?: number | undefined;
}

/** Keys that were given up: the resync looks at each once and no more. */
const MOST_GIVEN_UP = 100_000;

/** Creates the schedule of one function. */
export function createSchedule({ concurrency, isUp = () => true, backgroundPerSecond = Infinity }: ScheduleOptions) {
  const entries = new Map<string, Entry>();
  const ready = new Ready<Entry>();
  const delayed = new Heap<Entry>();
  const slots = createSlots(concurrency);
  const waiting = new Map<string, Set<Entry>>();
  const givenUp = new Set<string>();
  /** When each cluster last answered again. */
  const resumed = new Map<string, number>();
  /** How many more of the background may start before this moment. */
  let left = backgroundPerSecond;
  let refill = 0;

  const entryOf = (key: ReconcileKey): Entry => {
    const text = keyText(key);
    const known = entries.get(text);
    if (known !== undefined) return known;
    const none = { pending: undefined, running: undefined, waitsFor: undefined, readyAs: undefined };
    const entry: Entry = { key, text, tenant: tenantOf(key), at: 0, index: -1, ...none };
    entries.set(text, entry);
    return entry;
  };

  const makeReady = (entry: Entry, pending: Pending) => {
    delayed.remove(entry);
    stopWaiting(entry);
    entry.pending = pending;
    ready.add(entry, pending.priority);
  };

  const delay = (entry: Entry, pending: Pending) => {
    delayed.remove(entry);
    entry.pending = pending;
    entry.at = pending.since;
    delayed.add(entry);
  };

  /** Delays a run that is due later, for example because its change waits for others of the key. */
  const place = (entry: Entry, pending: Pending, now: number) => {
    if (pending.since > now) delay(entry, pending);
    else makeReady(entry, pending);
  };

  const waitFor = (entry: Entry, cluster: string) => {
    stopWaiting(entry);
    entry.waitsFor = cluster;
    const others = waiting.get(cluster) ?? new Set();
    waiting.set(cluster, others.add(entry));
  };

  const stopWaiting = (entry: Entry) => {
    if (entry.waitsFor === undefined) return;
    const others = waiting.get(entry.waitsFor);
    others?.delete(entry);
    if (others?.size === 0) waiting.delete(entry.waitsFor);
    entry.waitsFor = undefined;
  };

  /** What was given up starts afresh only for a fresh change; the resync tries it once. */
  const attemptsOf = ({ text }: Entry, arrived: Pending): number => {
    if (!givenUp.has(text)) return 0;
    if (!isFresh(arrived)) return LAST_ATTEMPT - 1;
    givenUp.delete(text);
    return 0;
  };

  /** Adds what arrived to what is pending; a key that runs gathers it for afterwards. */
  const arrive = (entry: Entry, arrived: Pending, now: number) => {
    const { pending } = entry;
    const added = { ...arrived, attempts: attemptsOf(entry, arrived) };
    const isReady = entry.readyAs !== undefined;
    const look = entry.running === undefined && !isReady ? pending : undefined;
    const isReplaced = pending === undefined || (look !== undefined && replaces(added, look));
    const both = isReplaced ? added : merged(pending, added);
    if (isFresh(added)) both.attempts = 0;
    if (entry.running !== undefined) entry.pending = both;
    else if (isReady) makeReady(entry, both);
    // The priority of a pending look stays: nothing urgent has arrived.
    else if (look !== undefined && !isReplaced && joins(added, look, entry.at - now))
      entry.pending = { ...both, priority: look.priority, since: look.since };
    else place(entry, both, now);
  };

  return {
    /** @param waitMs how long the change may wait for others of its key, or has to wait */
    add(key: ReconcileKey, cause: Cause, now: number, waitMs = 0): void {
      const entry = entryOf(key);
      arrive(entry, pendingOf(cause, now + waitMs), now);
      if (isRetry(cause) && entry.index >= 0) waitFor(entry, key.cluster);
    },

    /** Returns the key that runs next; undefined while there is none, or no slot for it. */
    take(now: number): Start | undefined {
      if (now >= refill) {
        refill = now + 1000;
        left = backgroundPerSecond;
      }
      for (let first = delayed.first(); first !== undefined && first.at <= now; first = delayed.first()) {
        const { pending } = first;
        if (pending !== undefined) makeReady(first, pending);
      }
      const entry = ready.take(slots, isUp, left <= 0);
      const pending = entry?.pending;
      if (entry === undefined || pending === undefined) return undefined;
      const [first, ...rest] = pending.causes;
      if (first === undefined) return undefined;
      if (pending.priority === 'background') left--;
      entry.pending = undefined;
      entry.running = { pending, isLong: false, begun: now };
      slots.start(entry.tenant);
      const { merged: count, attempts, since } = pending;
      return { key: entry.key, causes: [first, ...rest], merged: count, attempt: attempts + 1, since };
    },

    /** The run under way waits for a network: it no longer counts as working. */
    lasts(key: ReconcileKey): void {
      const entry = entries.get(keyText(key));
      if (entry?.running === undefined || entry.running.isLong) return;
      entry.running.isLong = true;
      slots.release(entry.tenant);
    },

    end(key: ReconcileKey, next: Next, now: number): void {
      const entry = entries.get(keyText(key));
      if (entry?.running === undefined) return;
      const { pending: ran, isLong, begun } = entry.running;
      const arrived = entry.pending;
      slots.end(entry.tenant, isLong);
      entry.running = undefined;
      entry.pending = undefined;
      remember(givenUp, entry.text, next);
      if (next.result === 'requeue' || next.result === 'retry') {
        const at = endOfWait(now, next.seconds, key, next.result === 'retry' ? next.atLeastSeconds : 0);
        const down = next.result === 'retry' ? (next.down ?? (isUp(key.cluster) ? undefined : key.cluster)) : undefined;
        const later = next.result === 'retry' ? retryOf(ran, at, down !== undefined) : lookOf(ran, at, now);
        const pending = { ...later, priority: laterPriority(ran.priority, next.seconds) };
        delay(entry, pending);
        // It may have answered again before the end of the run that it has failed.
        if (down !== undefined && isUp(down) && (resumed.get(down) ?? -1) >= begun)
          makeReady(entry, afresh(pending, now));
        else if (down !== undefined) waitFor(entry, down);
      }
      if (arrived !== undefined) arrive(entry, arrived, now);
      else if (entry.pending === undefined) entries.delete(entry.text);
    },

    /** The cluster answers again: what waited for it is due. */
    resume(cluster: string, now: number): void {
      resumed.set(cluster, now);
      for (const entry of [...(waiting.get(cluster) ?? [])]) {
        const { pending } = entry;
        if (pending !== undefined) makeReady(entry, afresh(pending, now));
      }
    },

    /** Returns when the first delayed key is due, or the background may start again. */
    nextDue(): number | undefined {
      const first = delayed.first()?.at;
      return left > 0 ? first : Math.min(refill, first ?? Infinity);
    },

    /** Returns how many keys are in which state. Parked: due, but their cluster is down. */
    depth: () => ({ ...ready.depth(isUp), delayed: delayed.size, running: slots.counts().runs }),
  };
}

function remember(givenUp: Set<string>, text: string, next: Next): void {
  givenUp.delete(text);
  if (next.result !== 'dead_letter') return;
  givenUp.add(text);
  if (givenUp.size <= MOST_GIVEN_UP) return;
  const [oldest = text] = givenUp;
  givenUp.delete(oldest);
}

/** Runs the keys of one function's schedule. */
export interface Worker {
  /** Something was added, or a cluster answers again: starts what may start. */
  wake(): void;
  /** Starts no more runs, and waits for those under way until the deadline. */
  stop(deadlineMs: number): Promise<void>;
  /** Returns false if a run is long overdue, or keys are due and nothing starts. */
  alive(): boolean;
}

/** The keys that are run, and how. */
export interface WorkerOptions {
  schedule: Schedule;
  /** The function's time. Shortly before its end the signal of a run aborts. */
  timeoutSeconds: number;
  /** Does the work of a key that has started; never throws. */
  work(start: Start, signal: AbortSignal): Promise<Next>;
  /** Until this moment no key starts; by `performance.now()`. */
  pausedUntil?: () => number;
}

/** A run that lasts longer waits for a network, not for the processor. */
const LONG_RUN_MS = 1_000;
/** Runs end in their time, and free slots are used at once: after so long something is stuck. */
const STUCK_MS = 60_000;
/** The longest time of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts to run the keys of a schedule, and those that are added to it. */
export function startWorker({ schedule, timeoutSeconds, work, pausedUntil = () => 0 }: WorkerOptions): Worker {
  const running = new Set<{ begun: number }>();
  let timer: NodeJS.Timeout | undefined;
  let isWoken = false;
  let isStopped = false;
  let lastStart = performance.now();
  let idle = Promise.withResolvers<void>();

  /** Starts all that may start. */
  const startRuns = () => {
    isWoken = false;
    clearTimeout(timer);
    if (isStopped) return;
    const isPaused = performance.now() < pausedUntil();
    const take = () => (isPaused ? undefined : schedule.take(performance.now()));
    for (let start = take(); start !== undefined; start = take()) void run(start);
    const due = isPaused ? pausedUntil() : schedule.nextDue();
    // What is due already waits for a slot, and the end of a run wakes it.
    if (due !== undefined)
      timer = setTimeout(startRuns, Math.min(LONGEST_TIMER_MS, Math.max(1, due - performance.now())));
  };

  // Not at once: what arrives in the same turn of the event loop is merged and sorted first.
  const wake = () => {
    if (isWoken || isStopped) return;
    isWoken = true;
    setImmediate(startRuns);
  };

  const run = async (start: Start): Promise<void> => {
    const begun = performance.now();
    const current = { begun };
    lastStart = begun;
    running.add(current);
    const ending = new AbortController();
    const abort = setTimeout(() => ending.abort(), timeoutSeconds * 1000 - ABORT_EARLY_MS);
    const lasting = setTimeout(() => {
      schedule.lasts(start.key);
      wake();
    }, LONG_RUN_MS);
    const next = await work(start, ending.signal);
    clearTimeout(abort);
    clearTimeout(lasting);
    schedule.end(start.key, next, performance.now());
    running.delete(current);
    if (running.size === 0) idle.resolve();
    wake();
  };

  wake();
  return {
    wake,
    alive() {
      const oldest = Math.min(...[...running].map(({ begun }) => begun));
      if (performance.now() - oldest > timeoutSeconds * 1000 + STUCK_MS) return false;
      const isDue = schedule.depth().waiting > 0 || (schedule.nextDue() ?? Infinity) < performance.now() - STUCK_MS;
      return isStopped || running.size > 0 || !isDue || performance.now() - lastStart < STUCK_MS;
    },
    async stop(deadlineMs) {
      isStopped = true;
      clearTimeout(timer);
      if (running.size === 0) return;
      idle = Promise.withResolvers();
      const deadline = setTimeout(idle.resolve, deadlineMs);
      await idle.promise;
      clearTimeout(deadline);
    },
  };
}

/** Returns the work of a function of this process. What it gives up is kept until its key succeeds. */
export function workOf(runner: Runner, deadLetters: DeadLetters): WorkerOptions['work'] {
  return async (start, signal) => {
    const begun = performance.now();
    const run = runOf(runner, start);
    const { key, causes, attempt: attempts } = start;
    const next = nextOf(await runOnce(runner, run, signal), attempts, Math.random());
    if (next.result === 'dead_letter') {
      const reason = describeError(next.error);
      deadLetters.add({ function: runner.name, key, causes, reason, attempts }, runner.now());
    } else if (next.result !== 'retry') deadLetters.remove(runner.name, key);
    report(runner, run, next, (performance.now() - begun) / 1000);
    return next;
  };
}

/** Returns the run of a key that has started. */
export function runOf({ name, now }: Runner, { key, causes, merged, attempt, since }: Start): Run {
  const [first, ...rest] = causes;
  const changeOf = (cause: typeof first): ChangeRequest => ({ function: name, key, cause });
  return {
    changes: [changeOf(first), ...rest.map(changeOf)],
    attempt,
    dueAt: now().getTime() - (performance.now() - since),
    superseded: merged,
  };
}
