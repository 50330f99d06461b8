import type { KubeClient } from '../../shared/kube/client.ts';
import { resuming } from '../../shared/runtime/activity.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { withLoggedDeletions } from '../../shared/runtime/log.ts';
import type { Outcome } from '../../shared/runtime/outcome.ts';
import { withinTime } from './deadline.ts';

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
