import { RetryableError, retryWithin } from '../../shared/errors.ts';
import { loadExtension } from '../../shared/gardener/load-extension.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome } from '../../shared/runtime/outcome.ts';
import { reconcile } from './reconcile.ts';
import { releaseOrphans } from './removal/orphans.ts';
import { migrate, remove, yieldToShootDeletion } from './removal/remove.ts';
import { createReporter } from './reporter.ts';
import type { Run } from './run.ts';
import { misnamedSeed } from './seed-name.ts';

/** gardenlet gives an operation three minutes: back-off must not eat them (trap 13). */
const WHILE_SOMEBODY_WAITS_SECONDS = 15;

/** Of a run's ten seconds; the rest is for requests that are under way, and to write how far it has come. */
const WORK_MS = 6_000;

/** Reads the Extension and its Cluster, asks the gate, and hands over to the operation. */
export const handler: Handler = async (key, context) => {
  const started = performance.now();
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(seed, key);
  if (loaded.state === 'absent') return releaseOrphans(seed, key.namespace);
  if (loaded.state === 'irrelevant') return done;
  if (loaded.state === 'without Cluster') {
    // Trap 40: for a Shoot's namespace a missing Cluster is an error, not an end.
    const message = `Cluster ${key.namespace} of Extension ${key.namespace}/${key.name} is missing; gardenlet writes it.`;
    throw retryWithin(new RetryableError(message), WHILE_SOMEBODY_WAITS_SECONDS);
  }
  if (loaded.state === 'closed') {
    context.log.debug('gate closed', { reason: loaded.reason });
    return done;
  }
  const { extension, cluster, operation } = loaded;
  const misnamed = misnamedSeed(cluster, key.cluster);
  if (misnamed !== undefined) context.log.warn('misnamed seed', { error: misnamed });
  const reporter = createReporter(seed, extension, operation, cluster.spec.shoot.spec?.resources ?? [], context);
  const isTimeUp = () => performance.now() - started > WORK_MS;
  const run: Run = { context, seed, namespace: key.namespace, extension, cluster, operation, reporter, isTimeUp };
  try {
    return await dispatch(run);
  } catch (error) {
    await tellWaitingGardenlet(run, error);
    // While a Shoot wakes up its API does not answer yet, and as soon as it does gardenlet asks.
    const isWaking = cluster.spec.shoot.status?.hibernated === true;
    throw reporter.inFlight() || isWaking ? retryWithin(error, WHILE_SOMEBODY_WAITS_SECONDS) : error;
  }
};

function dispatch(run: Run): Promise<Outcome> {
  if (run.operation === 'Migrate') return migrate(run);
  if (run.extension.metadata.deletionTimestamp !== undefined) return remove(run);
  if (run.cluster.spec.shoot.metadata.deletionTimestamp !== undefined) return yieldToShootDeletion(run);
  return reconcile(run);
}

/** An unexpected failure is retried; while somebody waits, the reason is shown. Best effort: the retry matters more. */
async function tellWaitingGardenlet(run: Run, error: unknown): Promise<void> {
  if (error instanceof ConflictError || run.context.signal.aborted || !run.reporter.inFlight()) return;
  try {
    await run.reporter.failed(describeError(error), []);
  } catch (failure) {
    run.context.log.warn('status not written', { error: describeError(failure) });
  }
}
