import { ConflictError } from '../../shared/kube/errors.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Change } from '../change.ts';
import { createSchedule, type Start } from '../queue/schedule.ts';
import { runOf, startWorker } from '../queue/worker.ts';
import type { Next } from '../retry.ts';
import { type Ending, report } from '../run/report.ts';
import { type Run, type Runner, type RunResult, runOnce } from '../run/runner.ts';

/** How a run ended. `isSent`: the bridge has its retry, and the broker needs none. */
export type KeyedEnding = Ending & { isSent?: boolean };

/** The function, and its limits. */
export interface KeyedRunsOptions {
  runner: Runner;
  /** Runs at a time. */
  concurrency: number;
  timeoutSeconds: number;
  /** Decides on what a run has returned or thrown; called once for each run. */
  endingOf(result: RunResult, run: Run): Promise<KeyedEnding>;
}

/** Another writer was faster, which is ordinary: so often the run is repeated at once. */
const MOST_REPEATS = 2;

/**
 * Runs one function in this process, never twice at a time for a key. Returns what takes a change, and resolves with the
 * ending of the run that answers it, together with all others that waited for it.
 */
export function createKeyedRuns({ runner, concurrency, timeoutSeconds, endingOf }: KeyedRunsOptions) {
  // A cluster that is down fails its runs at once, and the broker keeps their changes.
  const schedule = createSchedule({ concurrency });
  const waiting = new Map<string, ((ending: KeyedEnding) => void)[]>();

  const work = async (start: Start, signal: AbortSignal): Promise<Next> => {
    const text = keyText(start.key);
    const answers = waiting.get(text) ?? [];
    waiting.delete(text);
    const begun = performance.now();
    const run = runOf(runner, { ...start, attempt: freshestAttempt(start) });
    const ending = await endingOf(await repeated(run, signal), run);
    report(runner, run, ending, (performance.now() - begun) / 1000);
    for (const answer of answers) answer(ending);
    return { result: 'done' };
  };

  const repeated = async (run: Run, signal: AbortSignal): Promise<RunResult> => {
    let result = await runOnce(runner, run, signal);
    for (let repeats = 0; repeats < MOST_REPEATS; repeats++) {
      if (result.type !== 'failed' || !(result.error instanceof ConflictError)) break;
      result = await runOnce(runner, run, signal);
    }
    return result;
  };

  const worker = startWorker({ schedule, timeoutSeconds, work });

  return ({ key, cause }: Change): Promise<KeyedEnding> => {
    const { promise, resolve } = Promise.withResolvers<KeyedEnding>();
    schedule.add(key, cause, performance.now());
    const text = keyText(key);
    waiting.set(text, [...(waiting.get(text) ?? []), resolve]);
    worker.wake();
    return promise;
  };
}

/**
 * The broker counts the failures, and each change carries its own count: the freshest counts, so that what has failed
 * for hours does not use up the attempts of an edit.
 */
function freshestAttempt({ causes }: Start): number {
  return Math.min(...causes.map((cause) => ('attempt' in cause ? (cause.attempt ?? 0) : 0))) + 1;
}
