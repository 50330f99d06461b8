import { forwardersOf, sqsPace } from '../../../events/watcher/pace.ts';
import { createWatcher } from '../../../events/watcher/watcher.ts';
import type { Activity } from '../../../infra/docs/cost/inputs.ts';
import { findFunctions } from '../../../infra/functions.ts';
import { clientsOf } from '../../../infra/process/clients.ts';
import type { Connection } from '../../../shared/kube/connection.ts';
import type { ChangeRequest } from '../../../shared/runtime/change-request.ts';
import { createClusterHealth } from '../../../shared/runtime/cluster-health.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { noMetrics as metrics } from '../../../shared/runtime/metrics.ts';
import { settings } from './run-function.ts';

/** What has passed between watcher and functions since the start. */
export type Passed = Pick<Activity, 'fifo' | 'standard' | 'messages' | 'events'>;

/** Starts watcher and functions that reach each other by one transport, and returns what counts. */
export type StartApart = (connection: Connection, log: Log) => Promise<() => Passed>;

/** Returns the watcher and the functions of a landscape in which garden and seed are one cluster. */
export async function partsOf(connection: Connection, log: Log) {
  const functions = await findFunctions();
  const definitions = functions.map(({ definition }) => definition);
  const health = createClusterHealth();
  const kubeOf = (identity: string) =>
    clientsOf(identity, { credentials: () => async () => connection, metrics, health });
  return {
    functions,
    definitions,
    health,
    dependenciesOf: (name: string) => ({ kube: kubeOf(name), settings, now: () => new Date(), log, metrics }),
    watch(send: (changes: ChangeRequest[]) => Promise<void>): void {
      createWatcher({
        definitions,
        clusters: { garden: true, seeds: settings.seeds },
        kube: kubeOf('watcher'),
        send,
        health,
        pace: sqsPace(health.isUp, forwardersOf(definitions)),
        log,
        metrics,
      }).start();
    },
  };
}
