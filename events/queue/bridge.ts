import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { ChangeSender } from '../bridge.ts';
import { FUNCTION_TIMEOUT_SECONDS } from '../run/deadline.ts';
import { type ProcessDependencies, type QueueFunction, runnerOf } from '../run/runner.ts';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import { createSchedule, type Depth, type Schedule } from './schedule.ts';
import { startWorker, type Worker } from './worker.ts';

/** Carries changes within this process: no message is copied, and what arrives for a key is merged. */
export interface QueueBridge {
  sender: ChangeSender;
  deadLetters: Pick<DeadLetters, 'list'>;
  /** How many keys each function has. */
  depths(): { function: string; depth: Depth }[];
  /** Runs functions for the changes in their queues. */
  start(
    functions: QueueFunction[],
    dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
    options?: { timeoutSeconds?: number },
  ): Running;
  /** Closes the queues; stop the functions first. */
  stop(): Promise<void>;
}

/** Functions that run. */
export interface Running {
  /** Returns false if something is stuck and only a restart helps. */
  alive(): boolean;
  /**
   * Starts no more runs, and waits for those under way until the deadline.
   * @param deadlineMs default: a second more than the function's time
   */
  stop(deadlineMs?: number): Promise<void>;
}

/** The functions whose queues are opened, and their limits. */
export interface QueueOptions {
  definitions: Pick<FunctionDefinition, 'name' | 'queue'>[];
  metrics: Metrics;
  /** Changes of a cluster that is down are parked until it answers. */
  health?: Pick<ClusterHealth, 'isUp' | 'onChange'> | undefined;
  /** Slots of each function; see slots.ts. */
  concurrency?: number | undefined;
}

/** Measured: see decision 25. */
export const DEFAULT_CONCURRENCY = 20;

interface Queue {
  schedule: Schedule;
  worker: Worker | undefined;
}

/** Opens the queues of functions in this process. Functions that only move changes between queues are not needed. */
export function openQueue({
  definitions,
  metrics,
  health,
  concurrency = DEFAULT_CONCURRENCY,
}: QueueOptions): QueueBridge {
  const isUp = (cluster: string) => health?.isUp(cluster) !== false;
  const queues = new Map<string, Queue>(
    definitions
      .filter(({ queue }) => queue !== 'standard')
      .map(({ name }) => [name, { schedule: createSchedule({ concurrency, isUp }), worker: undefined }]),
  );
  const deadLetters = createDeadLetters((name) => metrics.count('dead_letters_dropped_total', { function: name }));
  const stopListening = health?.onChange((cluster, isNowUp) => {
    for (const { schedule, worker } of isNowUp ? queues.values() : []) {
      schedule.resume(cluster, performance.now());
      worker?.wake();
    }
  });

  const send = async (changes: ChangeRequest[]): Promise<void> => {
    const targets = changes.map((change) => [change, queueOf(queues, change.function)] as const);
    try {
      for (const [{ key, cause }, { schedule }] of targets) schedule.add(key, cause, performance.now());
    } finally {
      // Also those that were added before a queue was full.
      for (const [, { worker }] of targets) worker?.wake();
    }
  };

  return {
    sender: { send },
    deadLetters,
    depths: () => [...queues].map(([name, { schedule }]) => ({ function: name, depth: schedule.depth() })),
    start(functions, dependenciesOf, { timeoutSeconds = FUNCTION_TIMEOUT_SECONDS } = {}) {
      const workers = functions
        .filter(({ definition }) => queues.has(definition.name))
        .map((queueFunction) => {
          const { definition } = queueFunction;
          const queue = queueOf(queues, definition.name);
          const runner = runnerOf(queueFunction, { ...dependenciesOf(definition), send });
          queue.worker = startWorker({ schedule: queue.schedule, runner, deadLetters, timeoutSeconds });
          return queue.worker;
        });
      return {
        alive: () => workers.every((worker) => worker.alive()),
        async stop(deadlineMs = (timeoutSeconds + 1) * 1000) {
          await Promise.all(workers.map((worker) => worker.stop(deadlineMs)));
        },
      };
    },
    async stop() {
      stopListening?.();
    },
  };
}

function queueOf(queues: ReadonlyMap<string, Queue>, name: string): Queue {
  const queue = queues.get(name);
  if (queue !== undefined) return queue;
  throw new TypeError(`Function ${name} does not exist; known are ${[...queues.keys()].join(', ')}.`);
}
