import { describeError } from '../../shared/runtime/describe-error.ts';
import { type Next, nextOf } from '../retry.ts';
import { type Ending, report } from '../run/report.ts';
import { type Runner, runOnce } from '../run/runner.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Schedule, Start } from './schedule.ts';
import { timedRun } from './timed-run.ts';

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
  runner: Runner;
  deadLetters: DeadLetters;
  /** The function's time. */
  timeoutSeconds: number;
}

/** Runs end in their time, and free slots are used at once: after so long something is stuck. */
const STUCK_MS = 60_000;
/** The longest time of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts to run keys at once. */
export function startWorker({ schedule, runner, deadLetters, timeoutSeconds }: WorkerOptions): Worker {
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
    for (let start = schedule.take(now()); start !== undefined; start = schedule.take(now())) void run(start);
    const due = schedule.nextDue();
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
    await timedRun(start, { runner, schedule, timeoutSeconds, onLong: wake }, async (described, signal) => {
      const result = await runOnce(runner, described, signal);
      const next = nextOf(result, start.attempt, Math.random());
      schedule.end(start.key, next, now());
      keepDeadLetter(start, next);
      report(runner, described, endingOf(next), (now() - begun) / 1000);
    });
    running.delete(current);
    if (running.size === 0) idle.resolve();
    wake();
  };

  const keepDeadLetter = ({ key, causes, attempt }: Start, next: Next) => {
    if (next.type === 'done' || next.type === 'look') deadLetters.remove(runner.name, key);
    if (next.type !== 'deadLetter') return;
    const letter = { function: runner.name, key, causes, reason: describeError(next.error), attempts: attempt };
    deadLetters.add(letter, runner.now());
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

function endingOf(next: Next): Ending {
  switch (next.type) {
    case 'done':
      return { result: 'done' };
    case 'look':
      return { result: 'requeue', seconds: next.seconds };
    case 'retry':
      return { result: 'retry', seconds: next.seconds, error: next.error };
    case 'deadLetter':
      return { result: 'dead_letter', error: next.error };
  }
}
