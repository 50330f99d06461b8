import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { ABORT_EARLY_MS } from '../run/deadline.ts';
import type { Run, Runner } from '../run/runner.ts';
import type { Schedule, Start } from './schedule.ts';

/** The function that runs, its schedule and its time. */
export interface TimedRunOptions {
  runner: Runner;
  schedule: Pick<Schedule, 'lasts'>;
  timeoutSeconds: number;
  /** Called when the run lasts long, and its slot is free for another key. */
  onLong(): void;
}

/** A run that lasts longer waits for a network, not for the processor. */
const LONG_RUN_MS = 1_000;

/** Does the work of a key that has started, with a signal that ends it in the function's time. */
export async function timedRun<Result>(
  start: Start,
  { runner, schedule, timeoutSeconds, onLong }: TimedRunOptions,
  work: (run: Run, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const abort = setTimeout(() => ending.abort(), timeoutSeconds * 1000 - ABORT_EARLY_MS);
  const lasting = setTimeout(() => {
    schedule.lasts(start.key);
    onLong();
  }, LONG_RUN_MS);
  try {
    return await work(runOf(runner, start), ending.signal);
  } finally {
    clearTimeout(abort);
    clearTimeout(lasting);
  }
}

function runOf(runner: Runner, { key, causes, merged, attempt, since }: Start): Run {
  const [first, ...rest] = causes;
  const changeOf = (cause: typeof first): ChangeRequest => ({ function: runner.name, key, cause });
  return {
    changes: [changeOf(first), ...rest.map(changeOf)],
    attempt,
    dueAt: runner.now().getTime() - (performance.now() - since),
    superseded: merged,
  };
}
