import { findFunctions } from '../infra/functions.ts';
import { type ClientOptions, clientsOf } from '../infra/process/clients.ts';
import { createClusterHealth } from '../shared/runtime/cluster-health.ts';
import type { Settings } from '../shared/runtime/context.ts';
import type { Log } from '../shared/runtime/log.ts';
import { noMetrics } from '../shared/runtime/metrics.ts';
import { createQueues, startLambdas } from './sqs.ts';

/** A deployment of all functions. */
export interface DeploymentOptions extends Pick<ClientOptions, 'credentials' | 'onRequest'> {
  /** Where SQS's protocol is spoken. */
  endpoint: string;
  prefix: string;
  settings: Settings;
  log: Log;
  metrics?: ClientOptions['metrics'];
}

/** Creates the queues of all functions and runs what arrives there, without a watcher, as on Lambda. */
export async function deployFunctions(options: DeploymentOptions): Promise<{ stop(): Promise<void> }> {
  const { endpoint, prefix, settings, log, metrics = noMetrics } = options;
  const functions = await findFunctions();
  const definitions = functions.map(({ definition }) => definition);
  const queues = await createQueues(endpoint, definitions, { prefix, seeds: settings.seeds });
  const clients = { ...options, metrics, health: createClusterHealth() };
  const lambdas = await startLambdas(queues, functions, ({ name }) => ({
    ...{ kube: clientsOf(name, clients), settings, now: () => new Date(), log, metrics },
  }));
  return {
    async stop() {
      await lambdas.stop();
      await queues.stop();
    },
  };
}
