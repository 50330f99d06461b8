import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { repeat } from '../repeat.ts';

/** The Lease that gardenlet reads in the extension's namespace of a seed (rule 5.4). */
export const HEARTBEAT = 'gardener-extension-heartbeat';

/** How often it is renewed. After five minutes without renewal gardenlet considers the extension gone (trap 37). */
export const BEAT_SECONDS = 30;

const options = { fieldManager: 'shoot-flux-heartbeat' };

/** Creates or renews the Lease of one seed. When two processes do so at once, one of them is enough. */
export async function beat(seed: KubeClient, namespace: string, now: Date): Promise<void> {
  const { leases } = resources;
  const name = { namespace, name: HEARTBEAT };
  // Microseconds, like metav1.MicroTime.
  const renewTime = now.toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'shoot-flux', leaseDurationSeconds: BEAT_SECONDS, renewTime };
  const live = await seed.find(leases, name);
  try {
    if (live === undefined) {
      await seed.create(leases, { apiVersion: apiVersionOf(leases), kind: leases.kind, metadata: name, spec }, options);
    } else {
      const { resourceVersion } = live.metadata;
      await seed.mergePatch(leases, name, { metadata: { resourceVersion }, spec }, options);
    }
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

export interface HeartbeatOptions {
  /** Seed -> the extension's own namespace in it. */
  namespaces: Record<string, string>;
  kube(seed: string, signal: AbortSignal): Promise<KubeClient>;
  /** While this is false no Lease is renewed, so that gardenlet sees that the Shoots' health is out of date. */
  alive(): boolean;
  now?(): Date;
  log: Log;
  metrics: Metrics;
  everyMs?: number;
}

/** Renews the Leases of all seeds in parallel, so that a seed that does not answer blocks no other. */
export function startHeartbeat(options: HeartbeatOptions) {
  const { namespaces, kube, alive, now = () => new Date(), log, metrics, everyMs = BEAT_SECONDS * 1000 } = options;
  const renewing = Object.entries(namespaces).map(([cluster, namespace]) => {
    const renew = async (signal: AbortSignal) => {
      if (!alive()) return 'the process makes no progress';
      await beat(await kube(cluster, signal), namespace, now());
      return undefined;
    };
    metrics.count('heartbeat_failures_total', { cluster }, 0);
    return repeat(
      () => everyMs,
      async (signal) => {
        const error = await renew(signal).catch(describeError);
        if (error !== undefined && !signal.aborted) metrics.count('heartbeat_failures_total', { cluster });
        return error;
      },
      (error) => {
        if (error === undefined) log.info('heartbeat recovered', { cluster });
        else log.warn('heartbeat failed', { cluster, error });
      },
    );
  });
  return {
    async stop() {
      await Promise.all(renewing.map(({ stop }) => stop()));
    },
  };
}
