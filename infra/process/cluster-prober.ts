import { errorMessage } from '../../shared/errors.ts';
import { UnreachableError } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';

/** What a prober asks, and where it reports. */
export interface ProberOptions {
  health: ClusterHealth;
  clusters: string[];
  /** Its clients ask a cluster over new connections. */
  kube(cluster: string): Promise<Pick<HttpKubeClient, 'probe'>>;
  log: Log;
  metrics: Metrics;
  /** The first and the longest pause between two probes of a cluster that is down. Default 1 s and 5 s. */
  pauseMs?: [number, number] | undefined;
}

/** One of several API servers may refuse at once: for so many of the first pauses a cluster is asked again. */
const PATIENCE = 1.5;

/**
 * Asks each cluster whose calls fail or wait for long, so that it is known at once when it goes down and when it
 * answers again, and no function has to wait for it. Logs both, and counts them.
 */
export function startProber(options: ProberOptions) {
  const { health, clusters, kube, log, metrics, pauseMs = [1000, 5000] } = options;
  const stopped = new AbortController();
  const running = new Map<string, Promise<void>>();
  const unsubscribe = health.onChange(reporter(health, log, metrics));
  for (const cluster of clusters) metrics.gauge('cluster_up', 1, { cluster });

  const ask = async (cluster: string) => {
    const begun = health.now();
    let pauses = 0;
    while (!stopped.signal.aborted) {
      const failure = await failureOf(kube(cluster));
      if (stopped.signal.aborted) return;
      if (failure === undefined) return health.declare(cluster, undefined);
      const wasUp = health.isUp(cluster);
      if (wasUp && !failure.isNoAnswer) return;
      if (wasUp && health.now() - begun < pauseMs[0] * PATIENCE) {
        await sleep(pauseMs[0] / 4, stopped.signal);
        continue;
      }
      health.declare(cluster, failure.problem, begun);
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
    /** Asks this cluster now, unless it is asked already. */
    ask: begin,
    async stop() {
      stopped.abort();
      detach();
      unsubscribe();
      await Promise.all(running.values());
    },
  };
}

/** Returns why a probe failed; some errors say nothing about the cluster, such as an unreadable kubeconfig. */
async function failureOf(
  client: ReturnType<ProberOptions['kube']>,
): Promise<{ isNoAnswer: boolean; problem: string } | undefined> {
  try {
    await (await client).probe();
    return undefined;
  } catch (error) {
    const isNoAnswer = error instanceof UnreachableError;
    return { isNoAnswer, problem: isNoAnswer ? error.reason : errorMessage(error) };
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
