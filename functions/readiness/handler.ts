import { loadExtension } from '../../shared/gardener/load-extension.ts';
import { allApplied } from '../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import {
  type Applied,
  type Cluster,
  type Extension,
  type ManagedResource,
  type OperationType,
  ORIGIN,
  ORIGIN_LABEL,
} from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { KubeError } from '../../shared/kube/errors.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { judge, type Seen, unknown } from './judge.ts';
import { look as lookAt } from './look.ts';
import { RARELY } from './polling.ts';
import { publish, rest } from './publish.ts';

/** Judges only what is applied; until then the end of the operation wakes this function. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(seed, key, hasRecord);
  // A Failed Shoot keeps the gate closed for a while; the Extension may look the same afterwards, which wakes nothing.
  if (loaded.state === 'closed' && isFailed(loaded.cluster)) return requeueAfter(RARELY);
  if (loaded.state !== 'open' || isLeaving(loaded.operation, loaded.cluster)) return done;
  const { extension, cluster } = loaded;
  const applied = extension.status?.state?.applied;
  if (applied === undefined) return done;

  if (isHibernated(cluster)) {
    await rest(seed, extension, true, context);
    // While it wakes, gardenlet tells so on the Cluster alone, which wakes nobody here.
    return cluster.spec.shoot.spec?.hibernation?.enabled === true ? done : requeueAfter(WAKING);
  }
  const { items } = await seed.list<ManagedResource>(resources.managedResources, {
    namespace: key.namespace,
    labelSelector: `${ORIGIN_LABEL}=${ORIGIN}`,
  });
  if (!allApplied(applied, items)) {
    await rest(seed, extension, false, context);
    return requeueAfter(RARELY);
  }
  const seen = await ask(seed, key.namespace, applied, context);
  const before = { conditions: extension.status?.conditions ?? [], now: context.now() };
  const judged = 'reason' in seen ? unknown(applied, seen.reason, seen.message) : judge(applied, seen, before);
  return publish(seed, extension, applied, judged, context);
};

/** How often a Shoot that is waking is looked at, in seconds. */
const WAKING = 20;

/** True when `managed-resources` has recorded what it applied. */
function hasRecord({ status }: Extension): boolean {
  return status?.state?.applied !== undefined;
}

function isFailed({ spec: { shoot } }: Cluster): boolean {
  return shoot.status?.lastOperation?.state === 'Failed';
}

/** True when the extension leaves the Shoot, or the Shoot is being deleted: neither is judged. */
function isLeaving(operation: OperationType, { spec: { shoot } }: Cluster): boolean {
  return operation === 'Delete' || operation === 'Migrate' || shoot.metadata.deletionTimestamp !== undefined;
}

/** Neither its API nor Flux runs (traps 17, 34). */
function isHibernated({ spec: { shoot } }: Cluster): boolean {
  return shoot.spec?.hibernation?.enabled === true || shoot.status?.hibernated === true;
}

/** Why the shoot cannot be asked. */
interface NotAsked {
  reason: string;
  message: string;
}

async function ask(seed: KubeClient, namespace: string, applied: Applied, context: Context): Promise<Seen | NotAsked> {
  try {
    const look = (shoot: KubeClient) => lookAt(shoot, applied).catch(notReachable);
    const seen = await withShoot({ seed, namespace, context }, look, { userAgent: 'shoot-flux/readiness' });
    return seen ?? noAccess;
  } catch (error) {
    // The seed did not answer, which says nothing about the shoot: the run is retried.
    if (error instanceof KubeError) throw error;
    return notReachable(error);
  }
}

const noAccess: NotAsked = {
  reason: 'NoShootAccess',
  message: 'The control plane holds no kubeconfig for the shoot (Secret gardener or gardener-internal).',
};

function notReachable(error: unknown): NotAsked {
  return { reason: 'ShootNotReachable', message: `The shoot cannot be asked: ${describeError(error)}` };
}
