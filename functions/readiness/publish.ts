import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied, Condition, Extension, FluxStatus } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { mergeDiff } from '../../shared/kube/merge-patch.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { allOurs, conditions, configurationFollowed } from './conditions.ts';
import { restingHealth, SHOOT_HEALTH, shootHealth } from './health.ts';
import type { Judged } from './judge.ts';
import { nextLook, SOON } from './polling.ts';

/** Writes what was judged, and says when to look again. */
export async function publish(
  seed: KubeClient,
  extension: Extension,
  applied: Applied,
  { verdicts, flux, isOpen }: Judged,
  context: Context,
): Promise<Outcome> {
  const now = context.now();
  const live = extension.status?.conditions ?? [];
  const health = context.settings.shootHealth ? shootHealth(applied, verdicts, healthOf(live), now) : undefined;
  const told = [...verdicts, ...configurationFollowed(applied), ...(health === undefined ? [] : [health])];
  const next = conditions(live, allOurs, told, now);
  await write(seed, extension, next, context, flux);
  const own = (next ?? live).filter(({ type }) => verdicts.some((verdict) => verdict.type === type));
  const allTrue = verdicts.every(({ status }) => status === 'True');
  if (allTrue && isOpen) return requeueAfter(SOON);
  const endedAt = Date.parse(extension.status?.lastOperation?.lastUpdateTime ?? '') || 0;
  const seconds = nextLook(own, allTrue, isReleased(applied), now, endedAt);
  return seconds === undefined ? done : requeueAfter(seconds);
}

/** True where all that is judged is the user's own. */
function isReleased({ managedResources }: Applied): boolean {
  const { controllers, sync } = managedResourceNames;
  return managedResources[controllers] === undefined && managedResources[sync] === undefined;
}

/** Our own conditions stay as they were judged; the Shoot's health must not stay bad, nor stay when nobody wants it. */
export async function rest(
  seed: KubeClient,
  extension: Extension,
  hibernated: boolean,
  context: Context,
): Promise<void> {
  const live = extension.status?.conditions ?? [];
  const health = context.settings.shootHealth ? restingHealth(healthOf(live), hibernated) : undefined;
  await write(
    seed,
    extension,
    conditions(live, [SHOOT_HEALTH], health === undefined ? [] : [health], context.now()),
    context,
  );
}

function healthOf(live: Condition[]): Condition | undefined {
  return live.find(({ type }) => type === SHOOT_HEALTH);
}

/** Guarded by the version that was read: another writer's conditions are never lost (trap 11). */
async function write(
  seed: KubeClient,
  extension: Extension,
  next: Condition[] | undefined,
  { log }: Context,
  flux?: FluxStatus,
): Promise<void> {
  const fluxPatch = flux === undefined ? undefined : mergeDiff(extension.status?.providerStatus?.flux, flux);
  if (next === undefined && fluxPatch === undefined) return;
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
  for (const condition of turned(extension.status?.conditions ?? [], next ?? [])) {
    const { type, status, reason, message, codes } = condition;
    if (status === 'True') log.info('condition', { type, status, reason });
    // A code stands where somebody has to mend something, and not where it only takes time.
    else log[codes === undefined ? 'info' : 'warn']('condition', { type, status, reason, error: message });
  }
}

/** What says something else than before, not only of another revision or configuration. */
function turned(live: Condition[], next: Condition[]): Condition[] {
  return next.filter(({ type, status, reason }) => {
    const before = live.find((condition) => condition.type === type);
    return before?.status !== status || before.reason !== reason;
  });
}
