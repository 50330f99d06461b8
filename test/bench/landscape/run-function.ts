import type { Cause } from '../../../shared/runtime/change-request.ts';
import { createClusters } from '../../../shared/runtime/clusters.ts';
import type { Handler, Settings } from '../../../shared/runtime/context.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { noMetrics } from '../../../shared/runtime/metrics.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import type { BenchClusters } from './bench-clusters.ts';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';
import { countRequests, type SeenRequest } from './requests.ts';

/** The default settings. */
export const settings: Settings = {
  landscape: 'bench',
  seeds: [SEED],
  fluxDistribution,
  shootHealth: false,
  shootAccess: 'external',
};

/** Runs a function once for an Extension, without watcher and queue, and returns its requests. */
export async function runFunction(
  name: string,
  handler: Handler,
  namespace: string,
  { seed }: Pick<BenchClusters, 'seed'>,
  causes: Cause[] = [],
): Promise<{ outcome: Outcome; requests: SeenRequest[] }> {
  const clusters = createClusters(async () => seed.connection, { userAgent: `shoot-flux/${name}` });
  using counter = countRequests();
  const outcome = await handler(
    { cluster: SEED, namespace, name: 'shoot-flux' },
    {
      kube: clusters,
      settings,
      send: async () => {},
      causes,
      now: () => new Date(),
      log: createLog('warn'),
      metrics: noMetrics,
      signal: AbortSignal.timeout(10_000),
    },
  );
  (await clusters(SEED)).close();
  return { outcome, requests: counter.requests };
}
