import { TerminalError } from '../../shared/errors.ts';
import { ClusterDownError, ConflictError } from '../../shared/kube/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type Change, parseChange } from '../change.ts';
import { createSchedule, runOf, type Start, startWorker } from '../queue/schedule.ts';
import { afterFailure, isServed, type Next, NotServedError, retryAfterOf } from '../retry.ts';
import {
  type Ending,
  FUNCTION_TIMEOUT_SECONDS,
  type ProcessDependencies,
  type QueueFunction,
  type Run,
  type Runner,
  type RunResult,
  report,
  runnerOf,
  runOnce,
} from '../run.ts';
import type { Transport } from '../transport.ts';
import { laterChange } from '../waits.ts';
import type { Answer, Receive } from './answer.ts';
import { LONGEST_TYPE, typeOf } from './event.ts';

/** How a run ended. `isSent`: the bridge has its retry, and the broker needs none. */
type KeyedEnding = Ending & { isSent?: boolean };

/** Functions behind HTTP, and what they need. */
interface ServeOptions {
  functions: readonly { queueFunction: QueueFunction; dependencies: ProcessDependencies }[];
  sender: Transport;
  /** Runs of each function at a time. */
  concurrency: number;
  /** A function's time. Default 10. */
  timeoutSeconds?: number | undefined;
}

/** Returns what answers the events of these functions. */
export function serveFunctions({ functions, ...options }: ServeOptions): Receive {
  const served = new Map(
    functions.map(({ queueFunction, dependencies }) => {
      const { name } = queueFunction.definition;
      const runner = runnerOf(queueFunction, { ...dependencies, send: (changes) => options.sender.send(changes) });
      const run = keyedRuns(runner, options);
      return [name, { run, seeds: dependencies.settings.seeds }] as const;
    }),
  );

  return async (event) => {
    const change = parseChange(event.data);
    const known = served.get(change.function);
    if (known === undefined || event.attributes.type !== typeOf(change.function)) {
      throw new TerminalError(
        `The event of type ${safeText(event.attributes.type ?? '', LONGEST_TYPE)} is not for ${[...served.keys()].join(', ')}; correct the filter of the Trigger.`,
      );
    }
    if (!isServed(change.key, known.seeds)) throw new NotServedError(change.key.cluster, known.seeds);
    return answerTo(await known.run(change));
  };
}

/** Another writer was faster, which is ordinary: so often the run is repeated at once. */
const MOST_REPEATS = 2;

/**
 * Runs one function in this process, never twice at a time for a key. Returns what takes a change, and resolves with the
 * ending of the run that answers it, together with all others that waited for it.
 */
function keyedRuns(runner: Runner, options: Omit<ServeOptions, 'functions'>) {
  const { sender, concurrency, timeoutSeconds = FUNCTION_TIMEOUT_SECONDS } = options;
  // A cluster that is down fails its runs at once, and the broker keeps their changes.
  const schedule = createSchedule({ concurrency });
  const waiting = new Map<string, ((ending: KeyedEnding) => void)[]>();

  const work = async (start: Start, signal: AbortSignal): Promise<Next> => {
    const text = keyText(start.key);
    const answers = waiting.get(text) ?? [];
    waiting.delete(text);
    const begun = performance.now();
    const run = runOf(runner, { ...start, attempt: freshestAttempt(start) });
    const ending = await endingOf(await repeated(runner, run, signal), run, sender);
    report(runner, run, ending, (performance.now() - begun) / 1000);
    for (const answer of answers) answer(ending);
    return { result: 'done' };
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

async function repeated(runner: Runner, run: Run, signal: AbortSignal): Promise<RunResult> {
  let result = await runOnce(runner, run, signal);
  for (let repeats = 0; repeats < MOST_REPEATS; repeats++) {
    if (result.type !== 'failed' || !(result.error instanceof ConflictError)) break;
    result = await runOnce(runner, run, signal);
  }
  return result;
}

/**
 * The broker counts the failures, and each change carries its own count: the freshest counts, so that what has failed
 * for hours does not use up the attempts of an edit.
 */
function freshestAttempt({ causes }: Start): number {
  return Math.min(...causes.map((cause) => ('attempt' in cause ? (cause.attempt ?? 0) : 0))) + 1;
}

/** Passes on what a run asks for. The broker retries what has failed for now. */
async function endingOf(result: RunResult, run: Run, later: Transport): Promise<KeyedEnding> {
  if (result.type === 'done') return { result: 'done' };
  if (result.type === 'failed') return endingOfFailure(result.error, run, later);
  try {
    // Sent first, acknowledged after: killed in between, the change arrives twice, which is harmless.
    const { change, seconds } = laterChange(run.changes[0], result.afterSeconds, new Date());
    await later.retryLater(change, seconds);
    return { result: 'requeue', seconds: result.afterSeconds };
  } catch (error) {
    return { result: 'retry', error };
  }
}

/**
 * The bridge knows whether the cluster of a key is down, and not which other cluster its run has needed: then the retry is
 * sent to it, because what the broker has given up counts an attempt.
 */
async function endingOfFailure(error: unknown, { changes, attempt }: Run, later: Transport): Promise<KeyedEnding> {
  const next = afterFailure(error, { attempt, isResync: changes.every(({ cause }) => cause.type === 'resync') });
  if (next.type === 'deadLetter') return { result: 'dead_letter', error };
  if (next.type === 'drop') return { result: 'dropped', error };
  const seconds = retryAfterOf(error);
  const ending: KeyedEnding = seconds > 0 ? { result: 'retry', seconds, error } : { result: 'retry', error };
  if (!(error instanceof ClusterDownError) || error.cluster === changes[0].key.cluster) return ending;
  // The rest of a pass is part of what any other change of its key asks for.
  const change = changes.find(({ cause }) => cause.type !== 'continue') ?? changes[0];
  const options = { attempt: next.attempt, atLeastSeconds: seconds };
  try {
    const kept = laterChange(change, next.seconds, new Date(), options);
    await later.retryLater(kept.change, kept.seconds);
    return { result: 'retry', seconds: next.seconds, error, isSent: true };
  } catch {
    return ending;
  }
}

/** An answer without a body ends an event; any other would be a reply, which re-enters the broker. */
function answerTo(ending: KeyedEnding): Answer {
  if (ending.result === 'dead_letter') return { status: 422, sentence: describeError(ending.error) };
  if (ending.result !== 'retry' || ending.isSent === true) return { status: 204 };
  return { status: 503, sentence: describeError(ending.error), retryAfterSeconds: ending.seconds };
}
