import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { FUNCTION_TIMEOUT_SECONDS, type ProcessDependencies, type QueueFunction, runnerOf } from '../run.ts';
import { createDeadLetters } from './dead-letters.ts';
import { type ForwardOptions, SEND_SECONDS, startForwarder } from './forwarder.ts';
import { createSchedule, type Schedule, startWorker, type Worker, workOf } from './schedule.ts';

/**
 * The keyed queue of this process: for each function one entry per key, in which everything that arrives for the key is
 * merged. Either functions of this process work off its keys, or a transport takes them to functions elsewhere.
 */
export type Queue = ReturnType<typeof openQueue>;

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
  definitions: Pick<FunctionDefinition, 'name' | 'sends'>[];
  metrics: Metrics;
  /** Changes of a cluster that is down are parked until it answers. */
  health?: Pick<ClusterHealth, 'isUp' | 'onChange'> | undefined;
  /** Slots of each function; see slots.ts. */
  concurrency?: number | undefined;
  /** How many changes of a function that a list or the resync has found leave the queue per second. Default: all at once. */
  backgroundPerSecond?: ((definition: Pick<FunctionDefinition, 'sends'>) => number) | undefined;
}

/** Measured: see decision 25. */
export const DEFAULT_CONCURRENCY = 20;

/** The queue of one function. */
interface Lane {
  schedule: Schedule;
  worker: Worker | undefined;
}

/** Opens the queues of functions in this process. */
export function openQueue(options: QueueOptions) {
  const { definitions, metrics, health, concurrency = DEFAULT_CONCURRENCY } = options;
  const isUp = (cluster: string) => health?.isUp(cluster) !== false;
  const lanes = new Map<string, Lane>(
    definitions.map((definition) => {
      const backgroundPerSecond = options.backgroundPerSecond?.(definition);
      const schedule = createSchedule({ concurrency, isUp, backgroundPerSecond });
      return [definition.name, { schedule, worker: undefined }];
    }),
  );
  const deadLetters = createDeadLetters((name) => metrics.count('dead_letters_dropped_total', { function: name }));
  const stopListening = health?.onChange((cluster, isNowUp) => {
    for (const { schedule, worker } of isNowUp ? lanes.values() : []) {
      schedule.resume(cluster, performance.now());
      worker?.wake();
    }
  });

  const add = (name: string, key: ReconcileKey, cause: Cause, waitMs?: number): void => {
    const { schedule, worker } = laneOf(lanes, name);
    schedule.add(key, cause, performance.now(), waitMs);
    worker?.wake();
  };

  const send = async (changes: ChangeRequest[]): Promise<void> => {
    // All or none.
    for (const change of changes) laneOf(lanes, change.function);
    for (const { function: name, key, cause } of changes) add(name, key, cause);
  };

  return {
    /**
     * Adds a change of a key.
     * @param waitMs how long it may wait for others of its key, or has to wait. Default 0
     */
    add,
    /** Adds what one function sends to others. */
    send,
    deadLetters,
    /** Returns how many keys each function has. */
    depths: () => [...lanes].map(([name, { schedule }]) => ({ function: name, depth: schedule.depth() })),
    /** Runs functions for the changes in their queues. */
    start(
      functions: QueueFunction[],
      dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
      { timeoutSeconds = FUNCTION_TIMEOUT_SECONDS }: { timeoutSeconds?: number } = {},
    ): Running {
      const workers = functions
        .filter(({ definition }) => lanes.has(definition.name))
        .map((queueFunction) => {
          const { definition } = queueFunction;
          const lane = laneOf(lanes, definition.name);
          const runner = runnerOf(queueFunction, { ...dependenciesOf(definition), send });
          const work = workOf(runner, deadLetters);
          lane.worker = startWorker({ schedule: lane.schedule, timeoutSeconds, work });
          return lane.worker;
        });
      return runningOf(workers, (timeoutSeconds + 1) * 1000);
    },
    /** Sends all changes to functions that run elsewhere. */
    forward(options: Pick<ForwardOptions, 'sender' | 'log' | 'metrics'>) {
      const forwarders = [...lanes].map(([name, lane]) => {
        const forwarder = startForwarder({ ...options, name, schedule: lane.schedule, isUp });
        lane.worker = forwarder;
        return forwarder;
      });
      return {
        ...runningOf(forwarders, SEND_SECONDS * 1000),
        /** Returns true unless changes of a function wait, or will in a moment, and none has been accepted yet. */
        accepts: () => forwarders.every((forwarder) => forwarder.accepts()),
        /** Returns how many keys wait to be sent, by function, and why the last attempt failed. */
        status: () => forwarders.map((forwarder) => forwarder.status()),
      };
    },
    /** Closes the queues; stop the functions first. */
    async stop(): Promise<void> {
      stopListening?.();
    },
  };
}

function runningOf(workers: Worker[], defaultMs: number): Running {
  return {
    alive: () => workers.every((worker) => worker.alive()),
    async stop(deadlineMs = defaultMs) {
      await Promise.all(workers.map((worker) => worker.stop(deadlineMs)));
    },
  };
}

function laneOf(lanes: ReadonlyMap<string, Lane>, name: string): Lane {
  const lane = lanes.get(name);
  if (lane !== undefined) return lane;
  throw new TypeError(`Function ${name} does not exist; known are ${[...lanes.keys()].join(', ')}.`);
}
