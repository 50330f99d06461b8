import { gate } from '../../shared/gardener/gate.ts';
import { allApplied, managedResourceNames } from '../../shared/gardener/managed-resource.ts';
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
import { mergeDiff } from '../../shared/kube/merge-patch.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { conditions } from './conditions.ts';
import { type Judged, judge, unknown } from './judge.ts';
import { look } from './look.ts';
import { nextLook } from './polling.ts';

/** Judges only what the resource-manager has applied; until then its own changes wake this function. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const extension = await seed.find<Extension>(resources.extensions, key);
  const applied = extension?.status?.state?.applied;
  if (extension === undefined || applied === undefined) return done;
  const cluster = await seed.find<Cluster>(resources.clusters, { name: key.namespace });
  if (cluster === undefined || !mayAsk(extension, cluster)) return done;

  const { items } = await seed.list<ManagedResource>(resources.managedResources, {
    namespace: key.namespace,
    labelSelector: `${ORIGIN_LABEL}=${ORIGIN}`,
  });
  if (!allApplied(applied, items)) return done;
  const judged = await ask(seed, key.namespace, applied, context);
  return publish(seed, extension, applied, judged, context);
};

/** A Shoot that sleeps, leaves or is being deleted is left in peace (trap 17). */
function mayAsk(extension: Extension, cluster: Cluster): boolean {
  const decision = gate(extension, cluster);
  const { shoot } = cluster.spec;
  return (
    decision.open &&
    decision.operation !== 'Delete' &&
    decision.operation !== 'Migrate' &&
    shoot.metadata.deletionTimestamp === undefined &&
    shoot.spec?.hibernation?.enabled !== true &&
    shoot.status?.hibernated !== true
  );
}

async function ask(seed: KubeClient, namespace: string, applied: Applied, context: Context): Promise<Judged> {
  let shoot: Awaited<ReturnType<typeof shootClient>>;
  try {
    shoot = await shootClient(seed, namespace, context.settings.shootAccess, { userAgent: 'shoot-flux/readiness' });
    if (shoot === undefined) {
      return unknown(
        applied,
        'NoShootAccess',
        'The control plane holds no kubeconfig for the shoot (Secret gardener or gardener-internal).',
      );
    }
    return judge(applied, await look(shoot, applied));
  } catch (error) {
    return unknown(applied, 'ShootNotReachable', `The shoot cannot be asked: ${describeError(error)}`);
  } finally {
    shoot?.close();
  }
}

async function publish(
  seed: KubeClient,
  extension: Extension,
  applied: Applied,
  { verdicts, flux }: Judged,
  context: Context,
): Promise<Outcome> {
  const now = context.now();
  const live = extension.status?.conditions ?? [];
  const next = conditions(live, verdicts, applied, now);
  const fluxPatch = mergeDiff(extension.status?.providerStatus?.flux, flux);
  if (next !== undefined || fluxPatch !== undefined) {
    const status = {
      ...(next === undefined ? {} : { conditions: next }),
      ...(fluxPatch === undefined ? {} : { providerStatus: { flux: fluxPatch } }),
    };
    const { resourceVersion } = extension.metadata;
    await seed.mergePatch(
      resources.extensions,
      extension.metadata,
      { metadata: { resourceVersion }, status },
      { fieldManager: 'shoot-flux-readiness', subresource: 'status' },
    );
  }
  const own = (next ?? live).filter(({ type }) => verdicts.some((verdict) => verdict.type === type));
  const allTrue = verdicts.every(({ status }) => status === 'True');
  const isReleased = applied.managedResources[managedResourceNames.sync] === undefined;
  const seconds = nextLook(own, allTrue, isReleased, now);
  return seconds === undefined ? done : requeueAfter(seconds);
}
