import { openSqsBridge } from '../../../events/sqs/bridge.ts';
import { forwardersOf, sqsPace } from '../../../events/watcher/pace.ts';
import { createWatcher } from '../../../events/watcher/watcher.ts';
import { findFunctions } from '../../../infra/functions.ts';
import { clientsOf } from '../../../infra/process/clients.ts';
import type { Connection } from '../../../shared/kube/connection.ts';
import { createClusterHealth } from '../../../shared/runtime/cluster-health.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { noMetrics as metrics } from '../../../shared/runtime/metrics.ts';
import { settings } from './run-function.ts';

/** As long as AWS waits for messages. `run` waits for a second, which on a fast clock is all that it does. */
const WAIT_SECONDS = 20;

/** Starts watcher and functions with queues in SQS. The code of the Lambdas handles the messages. */
export async function startOnSqs(endpoint: string, connection: Connection, log: Log): Promise<void> {
  const functions = await findFunctions();
  const definitions = functions.map(({ definition }) => definition);
  const health = createClusterHealth();
  const bridge = await openSqsBridge({ definitions, log, endpoint });
  const kubeOf = (identity: string) =>
    clientsOf(identity, { credentials: () => async () => connection, metrics, health });
  const dependencies = { settings, now: () => new Date(), log, metrics };
  bridge.start(functions, ({ name }) => ({ ...dependencies, kube: kubeOf(name) }), { waitSeconds: WAIT_SECONDS });
  createWatcher({
    definitions,
    clusters: { garden: true, seeds: settings.seeds },
    kube: kubeOf('watcher'),
    send: (changes) => bridge.sender.send(changes),
    health,
    pace: sqsPace(health.isUp, forwardersOf(definitions)),
    log,
    metrics,
  }).start();
}
