import { RetryableError } from '../shared/errors.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { resuming } from '../shared/runtime/activity.ts';
import type { Cause, ChangeRequest } from '../shared/runtime/change-request.ts';
import type { Context, Handler } from '../shared/runtime/context.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import { describeError } from '../shared/runtime/describe-error.ts';
import { keyText } from '../shared/runtime/key.ts';
import { type LogFields, withLoggedDeletions } from '../shared/runtime/log.ts';
import type { Outcome } from '../shared/runtime/outcome.ts';

/** A function folder: `definition` of its function.ts, `handler` of its handler.ts. */
export interface QueueFunction {
  definition: FunctionDefinition;
  handler: Handler;
}

/** What a function needs from the process that runs it; the queue adds `send`. */
export interface ProcessDependencies extends Pick<Context, 'settings' | 'now' | 'log' | 'metrics'> {
  /** Returns clients for `garden` and seeds; their calls end with the signal. */
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
}

/** A function with its dependencies. */
export interface Runner extends ProcessDependencies {
  name: string;
  /** Sends changes to the queues of functions. */
  send(changes: ChangeRequest[]): Promise<void>;
  invoke(change: ChangeRequest, context: Context): Promise<Outcome>;
}

/** One run of a function, for all changes of one key that are due. */
export interface Run {
  changes: readonly [ChangeRequest, ...ChangeRequest[]];
  /** How often these changes have been tried, including this run. */
  attempt: number;
  /** When the oldest change became due, in epoch milliseconds. */
  dueAt: number;
  /** How many changes this run handles besides the first. */
  superseded: number;
}

/** The result of a run: what the function returned or threw. */
export type RunResult = Outcome | { type: 'failed'; error: unknown };

/** Returns the runner of a function. */
export function runnerOf(
  { definition, handler }: QueueFunction,
  dependencies: ProcessDependencies & Pick<Runner, 'send'>,
): Runner {
  return { ...dependencies, name: definition.name, invoke: ({ key }, context) => handler(key, context) };
}

/** Calls `handler` of `functions/<name>/handler.ts` once. Never throws; the caller requeues or retries. */
export async function runOnce(runner: Runner, run: Run, signal: AbortSignal): Promise<RunResult> {
  try {
    return await withinTime(runner.invoke(run.changes[0], contextOf(runner, run, signal)), signal);
  } catch (error) {
    return { type: 'failed', error };
  }
}

function contextOf(runner: Runner, { changes }: Run, signal: AbortSignal): Context {
  const { settings, now, metrics } = runner;
  const log = runner.log.with({ function: runner.name, key: keyText(changes[0].key) });
  const { kube, send } = resuming({
    kube: async (cluster: string) => resuming(withLoggedDeletions(await runner.kube(cluster, signal), cluster, log)),
    send: (requests: ChangeRequest[]) => runner.send(requests),
  });
  return { kube, settings, send, causes: changes.map(({ cause }) => cause), now, log, metrics, signal };
}

/** A function's time, in seconds; its signal aborts a little earlier. */
export const FUNCTION_TIMEOUT_SECONDS = 10;

/** How long before the end of the function's time its signal aborts: enough to report which messages to redeliver. */
export const ABORT_EARLY_MS = 1_500;

/** A run that ignores the signal is abandoned after this. */
const GRACE_MS = 500;

/** Returns the run's result. @throws RetryableError soon after the signal has aborted */
async function withinTime<T>(run: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    const error = new RetryableError('The run exceeded the time limit of the function; it is retried.');
    timer = setTimeout(() => reject(error), GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run, overdue]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}

/** How a run ended. */
export type Ending =
  | { result: 'done' }
  | { result: 'requeue'; seconds: number }
  /** Without seconds: the broker decides when. */
  | { result: 'retry'; seconds?: number; error: unknown }
  /** A resync that has failed: the next one is its retry. */
  | { result: 'dropped'; error: unknown }
  | { result: 'dead_letter'; error: unknown };

/** Longer lists of causes are cut: one run can answer hundreds of changes from the fan-out. */
const SHOWN_CAUSES = 10;

/** Writes the log line and the metrics of a run: names and numbers only. */
export function report(
  runner: Pick<Runner, 'name' | 'now' | 'log' | 'metrics'>,
  run: Run,
  ending: Ending,
  seconds: number,
): void {
  const { name, now, log, metrics } = runner;
  const { result } = ending;
  const labels = { function: name };
  const age = (now().getTime() - run.dueAt) / 1000 - seconds;
  metrics.count('reconcile_total', { ...labels, result });
  metrics.observe('reconcile_seconds', seconds, labels);
  metrics.observe('queue_age_seconds', Math.max(0, age), labels);
  if (result === 'retry') metrics.count('retries_total', labels);
  if (result === 'dead_letter') metrics.count('terminal_total', labels);
  if (run.superseded > 0) metrics.count('coalesced_total', labels, run.superseded);

  const { function: target, key } = run.changes[0];
  const fields: LogFields = {
    function: name,
    ...(target === name ? {} : { for: target }),
    key: keyText(key),
    causes: causesText(run),
    outcome: result,
    ...('seconds' in ending ? { afterSeconds: ending.seconds } : {}),
    durationMs: Math.round(seconds * 1000),
    attempt: run.attempt,
    ...('error' in ending ? { error: describeError(ending.error) } : {}),
  };
  if (result === 'dead_letter') log.error('reconcile finished', fields);
  // A retry after 0 s follows a conflict: another writer was faster, as the guarded writes expect. No warning.
  else if (result === 'dropped' || (ending.result === 'retry' && ending.seconds !== 0))
    log.warn('reconcile finished', fields);
  else log.info('reconcile finished', fields);
}

function causesText({ changes, superseded }: Run): string {
  const texts = changes.slice(0, SHOWN_CAUSES).map(({ cause }) => causeText(cause));
  const more = superseded + 1 - texts.length;
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}

function causeText(cause: Cause): string {
  switch (cause.type) {
    case 'object': {
      const place = cause.namespace === undefined ? cause.name : `${cause.namespace}/${cause.name}`;
      return `${cause.kind} ${place} ${cause.deleted === true ? 'deleted' : cause.resourceVersion}`;
    }
    case 'notBefore':
      return `notBefore ${cause.notBefore}`;
    case 'continue':
      return `continue after ${cause.after} (run ${cause.hop + 1})`;
    case 'resync':
      return `resync ${cause.epoch}`;
    case 'redrive':
      return `redrive ${cause.nonce}`;
  }
}
