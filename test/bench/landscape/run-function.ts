import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Cause } from '../../../shared/runtime/change-request.ts';
import { createClusters } from '../../../shared/runtime/clusters.ts';
import type { Handler, Settings } from '../../../shared/runtime/context.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { noMetrics } from '../../../shared/runtime/metrics.ts';
import type { BenchClusters } from './clusters.ts';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

/** The default settings. */
export const settings: Settings = {
  version: '0.1.0',
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
): Promise<SeenRequest[]> {
  const clusters = createClusters(async () => seed.connection, { userAgent: `shoot-flux/${name}` });
  using counter = countRequests();
  await handler(
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
  return counter.requests;
}

/** A request of this process to an API server. */
export interface SeenRequest {
  /** The function, or `watcher`. */
  by: string;
  /** Method and path, for display. */
  text: string;
}

/**
 * Records the requests of this process at the HTTP layer. Those of the product name the function in their user agent; those of the
 * bench and of SDKs do not count.
 */
export function countRequests(): Disposable & { requests: SeenRequest[] } {
  const requests: SeenRequest[] = [];
  const onStart = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const [, by] = /^shoot-flux(?:\/(.*))?$/.exec(String(request.getHeader('user-agent'))) ?? [];
    if (by === undefined) return;
    requests.push({ by, text: `${request.method} ${request.path}` });
  };
  subscribe('http.client.request.start', onStart);
  return { requests, [Symbol.dispose]: () => void unsubscribe('http.client.request.start', onStart) };
}
