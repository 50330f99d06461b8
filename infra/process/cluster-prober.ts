import { errorMessage } from '../../shared/errors.ts';
import { UnreachableError } from '../../shared/kube/errors.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';

/** What a prober asks, and where it reports. */
export interface ProberOptions {
  health: ClusterHealth;
  clusters: string[];
  /** Asks a cluster over a new connection. @throws UnreachableError */
  probe(cluster: string): Promise<void>;
  log: Log;
  metrics: Metrics;
  /** The first and the longest pause between two probes of a cluster that is down. Default 1 s and 5 s. */
  pauseMs?: [number, number] | undefined;
}

export interface Prober {
  /** Asks this cluster now, unless it is asked already. */
  ask(cluster: string): void;
  stop(): Promise<void>;
}

/**
 * A refusal that comes at once may be that of one of several API servers: for so many of the first pauses a cluster is
 * asked again before it counts as down. A connection that is not made takes longer.
 */
const PATIENCE = 1.5;

/**
 * Asks each cluster whose calls fail or wait for long, so that it is known at once when it goes down and when it
 * answers again, and no function has to wait for it. Logs both, and counts them.
 */
export function startProber({ health, clusters, probe, log, metrics, pauseMs = [1000, 5000] }: ProberOptions): Prober {
  const stopped = new AbortController();
  const running = new Map<string, Promise<void>>();
  const unsubscribe = health.onChange(reporter(health, log, metrics));
  for (const cluster of clusters) metrics.gauge('cluster_up', 1, { cluster });

  const ask = async (cluster: string) => {
    const begun = health.now();
    let pauses = 0;
    while (!stopped.signal.aborted) {
      const verdict = await answerOf(probe(cluster));
      if (stopped.signal.aborted) return;
      if (verdict.isAnswer) return health.declare(cluster, undefined);
      const wasUp = health.isUp(cluster);
      if (wasUp && !verdict.isNoAnswer) return;
      if (wasUp && health.now() - begun < pauseMs[0] * PATIENCE) {
        await sleep(pauseMs[0] / 4, stopped.signal);
        continue;
      }
      health.declare(cluster, verdict.problem, begun);
      // A call was answered meanwhile.
      if (health.isUp(cluster)) return;
      await sleep(Math.min(pauseMs[1], pauseMs[0] * 2 ** Math.min(pauses++, 10)), stopped.signal);
    }
  };
  const begin = (cluster: string) => {
    if (running.has(cluster) || stopped.signal.aborted) return;
    running.set(
      cluster,
      ask(cluster).finally(() => running.delete(cluster)),
    );
  };
  const detach = health.attachProber(begin);

  return {
    ask: begin,
    async stop() {
      stopped.abort();
      detach();
      unsubscribe();
      await Promise.all(running.values());
    },
  };
}

interface Verdict {
  isAnswer: boolean;
  /** False for an error that says nothing about the cluster, such as an unreadable kubeconfig. */
  isNoAnswer: boolean;
  problem: string;
}

async function answerOf(probe: Promise<void>): Promise<Verdict> {
  try {
    await probe;
    return { isAnswer: true, isNoAnswer: false, problem: '' };
  } catch (error) {
    const isNoAnswer = error instanceof UnreachableError;
    return { isAnswer: false, isNoAnswer, problem: isNoAnswer ? error.reason : errorMessage(error) };
  }
}

function reporter(health: ClusterHealth, log: Log, metrics: Metrics) {
  const downSince = new Map<string, Date>();
  return (cluster: string, isUp: boolean) => {
    const { since, problem } = health.status().find((status) => status.cluster === cluster) ?? { since: new Date() };
    metrics.gauge('cluster_up', isUp ? 1 : 0, { cluster });
    if (isUp) {
      const begun = downSince.get(cluster) ?? since;
      downSince.delete(cluster);
      const downSeconds = Math.round((since.getTime() - begun.getTime()) / 1000);
      log.info('cluster up', { cluster, downSince: begun.toISOString(), downSeconds });
    } else {
      downSince.set(cluster, since);
      log.warn('cluster down', { cluster, since: since.toISOString(), reason: problem });
    }
  };
}
