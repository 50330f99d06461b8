import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { type Next, nextOf } from '../retry.ts';
import { ABORT_EARLY_MS, type Run, type Runner, report, runOnce } from '../run.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Schedule, Start } from './schedule.ts';

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

/** Starts to run keys at once. */
export function startWorker({ schedule, timeoutSeconds, work, pausedUntil = () => 0 }: WorkerOptions): Worker {
  const running = new Set<{ begun: number }>();
  let timer: NodeJS.Timeout | undefined;
  let isWoken = false;
  let isStopped = false;
  let lastStart = now();
  let idle = Promise.withResolvers<void>();

  /** Starts all that may start. */
  const startRuns = () => {
    isWoken = false;
    clearTimeout(timer);
    if (isStopped) return;
    const isPaused = now() < pausedUntil();
    const take = () => (isPaused ? undefined : schedule.take(now()));
    for (let start = take(); start !== undefined; start = take()) void run(start);
    const due = isPaused ? pausedUntil() : schedule.nextDue();
    // What is due already waits for a slot, and the end of a run wakes it.
    if (due !== undefined) timer = setTimeout(startRuns, Math.min(LONGEST_TIMER_MS, Math.max(1, due - now())));
  };

  // Not at once: what arrives in the same turn of the event loop is merged and sorted first.
  const wake = () => {
    if (isWoken || isStopped) return;
    isWoken = true;
    setImmediate(startRuns);
  };

  const run = async (start: Start): Promise<void> => {
    const begun = now();
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
    schedule.end(start.key, next, now());
    running.delete(current);
    if (running.size === 0) idle.resolve();
    wake();
  };

  wake();
  return {
    wake,
    alive() {
      const oldest = Math.min(...[...running].map(({ begun }) => begun));
      if (now() - oldest > timeoutSeconds * 1000 + STUCK_MS) return false;
      const isDue = schedule.depth().waiting > 0 || (schedule.nextDue() ?? Infinity) < now() - STUCK_MS;
      return isStopped || running.size > 0 || !isDue || now() - lastStart < STUCK_MS;
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

/** Monotonic, so that a clock that is set back delays nothing. */
function now(): number {
  return performance.now();
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

/** Returns the work of a function of this process. What it gives up is kept until its key succeeds. */
export function workOf(runner: Runner, deadLetters: DeadLetters): WorkerOptions['work'] {
  return async (start, signal) => {
    const begun = now();
    const run = runOf(runner, start);
    const { key, causes, attempt: attempts } = start;
    const next = nextOf(await runOnce(runner, run, signal), attempts, Math.random());
    if (next.result === 'dead_letter') {
      const reason = describeError(next.error);
      deadLetters.add({ function: runner.name, key, causes, reason, attempts }, runner.now());
    } else if (next.result !== 'retry') deadLetters.remove(runner.name, key);
    report(runner, run, next, (now() - begun) / 1000);
    return next;
  };
}
