import { RetryableError, retryWithin } from '../../shared/errors.ts';
import { loadExtension } from '../../shared/gardener/gate.ts';
import { askedOperation, isNewlyAsked } from '../../shared/gardener/operation.ts';
import type { Cluster } from '../../shared/gardener/types.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome } from '../../shared/runtime/outcome.ts';
import { reconcile } from './reconcile.ts';
import { createReporter } from './reporter.ts';
import type { Run, Start } from './run.ts';
import { migrate, releaseLeftovers, remove, yieldToShootDeletion } from './uninstall/operations.ts';

/** gardenlet gives an operation three minutes: back-off must not use them up (trap 13). */
const RETRY_IN_FLIGHT_SECONDS = 15;

/** Of a run's ten seconds; the rest is for requests in flight and for the record of the progress. */
const WORK_MS = 6_000;

/** Reads the Extension and its Cluster, asks the gate, and runs the operation. */
export const handler: Handler = async (key, context) => {
  const started = performance.now();
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(seed, key);
  if (loaded.state === 'absent') {
    return releaseLeftovers(seed, key.namespace, context.now());
  }
  if (loaded.state === 'irrelevant') return done;
  if (loaded.state === 'without Cluster') {
    // Trap 40: for a Shoot's namespace a missing Cluster is an error, not an end.
    const message = `Cluster ${key.namespace} of Extension ${key.namespace}/${key.name} does not exist yet; gardenlet creates it, and the run is retried.`;
    throw retryWithin(new RetryableError(message), RETRY_IN_FLIGHT_SECONDS);
  }
  if (loaded.state === 'closed') {
    context.log.debug('gate closed', { reason: loaded.reason });
    return done;
  }
  const { extension, cluster, operation } = loaded;
  warnOfSeedName(cluster, key.cluster, context);
  // False for a run that an edit of flux-config starts: gardenlet does not wait for it.
  const isAsked = askedOperation(extension) !== undefined;
  const start: Start = {
    ...{ context, seed, namespace: key.namespace, cluster, operation, isAsked },
    isNewlyAsked: isNewlyAsked(extension),
    isTimeUp: () => performance.now() - started > WORK_MS,
  };
  const run: Run = { ...start, reporter: createReporter(start, extension) };
  if (context.endedBefore !== undefined) throw await reportEnded(run, context.endedBefore);
  try {
    return await dispatch(run);
  } catch (error) {
    await reportUnexpectedError(run, error);
    // The API of a shoot that wakes up does not answer yet, and gardenlet asks as soon as it does.
    const isWaking = cluster.spec.shoot.status?.hibernated === true;
    throw run.reporter.isInFlight() || isWaking ? retryWithin(error, RETRY_IN_FLIGHT_SECONDS) : error;
  }
};

function dispatch(run: Run): Promise<Outcome> {
  if (run.operation === 'Migrate') return migrate(run);
  if (run.reporter.current().metadata.deletionTimestamp !== undefined) return remove(run);
  const isShootDeleted = run.cluster.spec.shoot.metadata.deletionTimestamp !== undefined;
  return isShootDeleted ? yieldToShootDeletion(run) : reconcile(run);
}

/** Says why the last run was ended, and returns the same as an error: the next attempt does the work again. */
async function reportEnded({ reporter }: Run, endedBefore: string): Promise<RetryableError> {
  const { namespace, name } = reporter.current().metadata;
  const sentence =
    `The run for Extension ${namespace}/${name} ${endedBefore}, so it was ended, and is retried more and more rarely; ` +
    'simplify its providerConfig, flux-config, and the objects that they name, for example the patterns in patches.';
  await reporter.failed(sentence);
  return new RetryableError(sentence);
}

/** Shows an error that is retried while gardenlet waits. Best effort: the retry matters more. */
async function reportUnexpectedError({ reporter, context }: Run, error: unknown): Promise<void> {
  if (error instanceof ConflictError || context.signal.aborted || !reporter.isInFlight()) return;
  try {
    await reporter.failed(describeError(error), {}, []);
  } catch (failure) {
    context.log.warn('status write failed', { error: describeError(failure) });
  }
}

/**
 * Warns when this deployment names a seed differently than the garden: changes of the fan-out reach no function then.
 */
function warnOfSeedName({ spec }: Cluster, name: string, { log }: Run['context']): void {
  const inGarden = spec.seed?.metadata?.name;
  if (inGarden === undefined || inGarden === name) return;
  const error =
    `this deployment calls the seed ${name}, but the garden calls it ${inGarden}: ` +
    'use the name that the garden uses; otherwise changes of flux-config reach its Shoots only with the hourly resync.';
  log.warn('seed name differs from the garden', { error });
}
