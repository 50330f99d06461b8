import { serveFunctions } from '../../events/cloudevents/serve.ts';
import { openSink, type SinkOptions } from '../../events/cloudevents/sink.ts';
import { FUNCTION_TIMEOUT_SECONDS, type QueueFunction } from '../../events/run.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { clientsOf } from '../process/clients.ts';
import { startProber } from '../process/cluster-prober.ts';
import { createPrometheusMetrics } from '../process/metrics.ts';
import type { ProductOptions } from '../process/product.ts';
import { startEventServer } from './event-server.ts';

/** Functions behind HTTP: an instance of a Knative Service. */
interface ServingOptions extends Pick<ProductOptions, 'credentials' | 'settings' | 'log'> {
  functions: readonly QueueFunction[];
  /** Takes the changes that the functions send, and those that wait. */
  sink: SinkOptions;
  port: number;
  /** Runs of each function at a time. Default 20. */
  concurrency?: number | undefined;
}

const CONCURRENCY = 20;

/** A run may wait for another one of its key. */
const DRAIN_MS = (2 * FUNCTION_TIMEOUT_SECONDS + 1) * 1000;

/** Starts to serve functions. `stop` takes no more events, and waits for those under way. */
export async function startServing(options: ServingOptions) {
  const { functions, credentials, settings, concurrency = CONCURRENCY, log } = options;
  const metrics = createPrometheusMetrics();
  const health = createClusterHealth();
  const clients = { credentials, metrics, health };
  const sink = openSink(options.sink);
  const own = functions.map((queueFunction) => {
    const { name } = queueFunction.definition;
    metrics.count('terminal_total', { function: name }, 0);
    const dependencies = { kube: clientsOf(name, clients), settings, now: () => new Date(), log, metrics };
    return { queueFunction, dependencies };
  });
  const receive = serveFunctions({ functions: own, sender: sink.sender, concurrency });
  const server = await startEventServer({ port: options.port, receive, log, metrics });
  const kube = clientsOf('watcher', clients);
  const prober = startProber({ health, clusters: [GARDEN, ...settings.seeds], kube, log, metrics });
  return {
    port: server.port,
    async stop() {
      await server.stop(DRAIN_MS);
      await prober.stop();
      sink.close();
    },
  };
}
