import type { Bridge } from '../../events/bridge.ts';
import { openQueue, type QueueBridge } from '../../events/queue/bridge.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { PrometheusMetrics } from './metrics.ts';

/** Queues in SQS. */
export interface SqsQueues {
  endpoint: string;
  /** Start of every queue's name. Default `shoot-flux-`. */
  prefix?: string | undefined;
  /** The served seeds are recorded in place of those that are recorded on the queues. */
  replaceSeeds?: boolean | undefined;
}

/** Which queues are opened, and where. */
export interface BridgeOptions {
  /** Absent: in this process. */
  sqs?: SqsQueues | undefined;
  seeds: string[];
  definitions: FunctionDefinition[];
  metrics: Metrics;
  health: ClusterHealth;
  concurrency?: number | undefined;
  log: Log;
}

/** Opens the queue of this process, or that of an SQS endpoint, which needs the SDK. */
export async function openBridge({
  sqs,
  seeds,
  definitions,
  metrics,
  health,
  concurrency,
  log,
}: BridgeOptions): Promise<{ bridge: Bridge; queue?: QueueBridge }> {
  if (sqs === undefined) {
    const queue = openQueue({ definitions, metrics, health, concurrency });
    return { bridge: queue, queue };
  }
  const { openSqsBridge } = await import('../../events/sqs/bridge.ts');
  return { bridge: await openSqsBridge({ ...sqs, definitions, log, seeds, concurrency }) };
}

/** Adds the depth of queues, which is only counted when it is asked for. */
export function withDepths(metrics: PrometheusMetrics, queue: QueueBridge): PrometheusMetrics {
  return {
    ...metrics,
    expose() {
      for (const { function: name, depth } of queue.depths()) {
        for (const [state, keys] of Object.entries(depth)) metrics.gauge('queue_keys', keys, { function: name, state });
      }
      metrics.gauge('dead_letters', queue.deadLetters.list().deadLetters.length);
      return metrics.expose();
    },
  };
}
