import { RetryableError } from '../../shared/errors.ts';
import { loadExtension } from '../../shared/gardener/gate.ts';
import { allApplied, listManagedResources } from '../../shared/gardener/managed-resource.ts';
import { isHibernated } from '../../shared/gardener/operation.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import type { Applied, Cluster, Extension, OperationType } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { KubeError } from '../../shared/kube/errors.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { growingPause, LONGEST_PAUSE_SECONDS, secondsSince } from '../../shared/runtime/growing-pause.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { assess, assessAsUnknown, type Observed } from './assess.ts';
import { APPLYING_CHECK_SECONDS, isStuck } from './next-check.ts';
import { observe } from './observe.ts';
import { publish, publishForeign, publishWhilePaused } from './publish.ts';

/** Assesses Flux once its objects are applied; before that, the end of the operation wakes this function. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  // `managed-resources` has recorded what it applied, or why it applies nothing.
  const hasRecord = ({ status }: Extension) => (status?.state?.applied ?? status?.state?.foreign) !== undefined;
  const loaded = await loadExtension(seed, key, hasRecord);
  // A Failed Shoot keeps the gate closed for a while; the Extension may look the same afterwards, which wakes nothing.
  const isFailed = loaded.state === 'closed' && loaded.cluster.spec.shoot.status?.lastOperation?.state === 'Failed';
  if (isFailed) return requeueAfter(LONGEST_PAUSE_SECONDS);
  if (loaded.state !== 'open' || isLeaving(loaded.operation, loaded.cluster)) return done;
  const { extension, cluster } = loaded;
  const applied = extension.status?.state?.applied;
  if (applied === undefined) return publishForeign(seed, extension, context);

  if (isHibernated(cluster.spec.shoot)) {
    await publishWhilePaused(seed, extension, true, context);
    // While the Shoot wakes up, gardenlet updates only the Cluster, which does not wake this function.
    const { spec, status } = cluster.spec.shoot;
    const waking = growingPause(secondsSince(status?.lastOperation?.lastUpdateTime, context.now()), 20);
    return spec?.hibernation?.enabled === true ? done : requeueAfter(waking);
  }
  const items = await listManagedResources(seed, key.namespace);
  if (!allApplied(applied, items)) {
    await publishWhilePaused(seed, extension, false, context);
    return isStuck(extension, context.now()) ? done : requeueAfter(APPLYING_CHECK_SECONDS);
  }
  const ended = endedOf(context);
  const observed = ended ?? (await observeShoot(seed, key.namespace, applied, context));
  const previous = { conditions: extension.status?.conditions ?? [], now: context.now() };
  const assessment =
    'reason' in observed
      ? assessAsUnknown(applied, observed.reason, observed.message)
      : assess(applied, observed, previous);
  const outcome = await publish(seed, extension, applied, assessment, context);
  // As an error, so that the next looks become rarer: one that succeeds would be followed by the next within seconds.
  if (ended !== undefined) throw new RetryableError(ended.message);
  return outcome;
};

/** True when the extension leaves the Shoot, or the Shoot is being deleted: neither is assessed. */
function isLeaving(operation: OperationType, { spec: { shoot } }: Cluster): boolean {
  return operation === 'Delete' || operation === 'Migrate' || shoot.metadata.deletionTimestamp !== undefined;
}

async function observeShoot(
  seed: KubeClient,
  namespace: string,
  applied: Applied,
  context: Context,
): Promise<Observed | Unreachable> {
  try {
    const act = (shoot: KubeClient) => observe(shoot, applied, context.now()).catch(notReachable);
    const observed = await withShoot({ seed, namespace, context }, act, { userAgent: 'shoot-flux/readiness' });
    return observed ?? noAccess;
  } catch (error) {
    // The seed did not answer, which says nothing about the shoot: the run is retried.
    if (error instanceof KubeError) throw error;
    return notReachable(error);
  }
}

/** Says why the last look at the shoot was ended, instead of ending the same way at once. */
function endedOf({ endedBefore }: Context): Unreachable | undefined {
  if (endedBefore === undefined) return undefined;
  const message =
    `Reading the objects of Flux in the shoot ${endedBefore}, so it was ended; ` +
    'check what the API of the shoot answers for them, and make them fewer or smaller.';
  return { reason: 'ObservationEnded', message };
}

const noAccess: Unreachable = {
  reason: 'NoShootAccess',
  message: 'The control plane has no kubeconfig for the shoot (Secret gardener or gardener-internal).',
};

type Unreachable = Record<'reason' | 'message', string>;

function notReachable(error: unknown): Unreachable {
  return { reason: 'ShootNotReachable', message: `The shoot cannot be reached: ${describeError(error)}` };
}
