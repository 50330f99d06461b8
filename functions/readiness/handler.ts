import { gate } from '../../shared/gardener/gate.ts';
import { allApplied } from '../../shared/gardener/managed-resource.ts';
import { shootClient } from '../../shared/gardener/shoot-client.ts';
import {
  type Applied,
  type Cluster,
  type Extension,
  type ManagedResource,
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
import { look } from './look.ts';
import { RARELY } from './polling.ts';
import { publish, rest } from './publish.ts';

/** Judges only what is applied; until then the end of the operation wakes this function. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const extension = await seed.find<Extension>(resources.extensions, key);
  const applied = extension?.status?.state?.applied;
  if (extension === undefined || applied === undefined) return done;
  const cluster = await seed.find<Cluster>(resources.clusters, { name: key.namespace });
  if (cluster === undefined) return done;
  // The gate is closed for a while; what ends that may look on the Extension as it did before.
  if (cluster.spec.shoot.status?.lastOperation?.state === 'Failed') return requeueAfter(RARELY);
  if (isLeaving(extension, cluster)) return done;

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

/** A Shoot that leaves or is being deleted is left in peace. */
function isLeaving(extension: Extension, cluster: Cluster): boolean {
  const decision = gate(extension, cluster);
  return (
    !decision.open ||
    decision.operation === 'Delete' ||
    decision.operation === 'Migrate' ||
    cluster.spec.shoot.metadata.deletionTimestamp !== undefined
  );
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
  let shoot: Awaited<ReturnType<typeof shootClient>>;
  try {
    shoot = await shootClient(seed, namespace, context.settings.shootAccess, {
      userAgent: 'shoot-flux/readiness',
      signal: context.signal,
    });
  } catch (error) {
    // A seed that does not answer says nothing of the shoot: that is tried again.
    if (error instanceof KubeError) throw error;
    return notReachable(error);
  }
  if (shoot === undefined) {
    const message = 'The control plane holds no kubeconfig for the shoot (Secret gardener or gardener-internal).';
    return { reason: 'NoShootAccess', message };
  }
  try {
    return await look(shoot, applied);
  } catch (error) {
    return notReachable(error);
  } finally {
    shoot.close();
  }
}

function notReachable(error: unknown): NotAsked {
  return { reason: 'ShootNotReachable', message: `The shoot cannot be asked: ${describeError(error)}` };
}
