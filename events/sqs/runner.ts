import type { KubeClient } from '../../shared/kube/client.ts';
import type { ChangeHandler, Context, Handler, Settings } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Outcome } from '../../shared/runtime/outcome.ts';
import type { Change } from '../change.ts';
import { MAX_RECEIVE_COUNT } from './limits.ts';
import { LAST_ATTEMPT } from './retry.ts';
import type { Sender } from './sender.ts';
import type { ChangeVisibility } from './visibility.ts';

/** A function folder: `definition` of its function.ts, `handler` of its handler.ts. */
export type QueueFunction =
  | { definition: FunctionDefinition & { queue?: 'fifo' }; handler: Handler }
  | { definition: FunctionDefinition & { queue: 'standard' }; handler: ChangeHandler };

/** What a function needs from the process that runs it. */
export interface RunnerDependencies {
  /** Returns clients for `garden` and seeds; their calls end with the signal. */
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  settings: Settings;
  sender: Sender;
  /** For the queue that the records come from. */
  visibility: ChangeVisibility;
  now(): Date;
  log: Log;
  metrics: Metrics;
}

/** A function with its queue and its dependencies. */
export interface Runner extends RunnerDependencies {
  name: string;
  queue: 'fifo' | 'standard';
  invoke(change: Change, context: Context): Promise<Outcome>;
  /** The attempt after which a change goes to the dead-letter queue. */
  lastAttempt: number;
}

/** Returns the runner of a function. */
export function runnerOf(queueFunction: QueueFunction, dependencies: RunnerDependencies): Runner {
  const { name } = queueFunction.definition;
  if (isStandard(queueFunction)) {
    const { handler } = queueFunction;
    // Retries stay in the queue, so the queue's own limit comes first.
    return { ...dependencies, name, queue: 'standard', invoke: handler, lastAttempt: MAX_RECEIVE_COUNT };
  }
  const { handler } = queueFunction;
  const invoke: Runner['invoke'] = ({ key }, context) => handler(key, context);
  return { ...dependencies, name, queue: 'fifo', invoke, lastAttempt: LAST_ATTEMPT };
}

function isStandard(candidate: QueueFunction): candidate is Extract<QueueFunction, { handler: ChangeHandler }> {
  return candidate.definition.queue === 'standard';
}
