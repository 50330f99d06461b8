import type { KubeClient } from '../../shared/kube/client.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { BEAT_SECONDS, beat } from './lease.ts';

export interface HeartbeatOptions {
  /** Seed -> the extension's own namespace in it. */
  namespaces: Record<string, string>;
  kube(seed: string, signal: AbortSignal): Promise<KubeClient>;
  /** While this is false nothing is renewed: gardenlet is to learn that nobody looks at the Shoots any more. */
  alive(): boolean;
  now(): Date;
  log: Log;
  metrics: Metrics;
  everyMs?: number;
}

/** Tells gardenlet in each seed that what we say of the Shoots' health is up to date. */
export interface Heartbeat {
  stop(): Promise<void>;
}

/** Starts at once; a seed that does not answer keeps no other from being told. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { namespaces, kube, alive, now, log, metrics, everyMs = BEAT_SECONDS * 1000 } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const renew = async (seed: string, namespace: string) => {
    try {
      if (!alive()) return 'the watcher does not get on';
      await beat(await kube(seed, signal), namespace, now());
      return undefined;
    } catch (error) {
      return describeError(error);
    }
  };
  const keep = async (seed: string, namespace: string) => {
    let told: string | undefined;
    metrics.count('heartbeat_failures_total', { cluster: seed }, 0);
    while (!signal.aborted) {
      const error = await renew(seed, namespace);
      if (error !== undefined && !signal.aborted) {
        metrics.count('heartbeat_failures_total', { cluster: seed });
        if (error !== told) log.warn('heartbeat', { cluster: seed, error });
      }
      if (error === undefined && told !== undefined) log.info('heartbeat renewed', { cluster: seed });
      told = error;
      await sleep(everyMs, signal);
    }
  };
  const keeping = Promise.all(Object.entries(namespaces).map(([seed, namespace]) => keep(seed, namespace)));
  return {
    async stop() {
      ending.abort();
      await keeping;
    },
  };
}
