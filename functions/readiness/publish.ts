import { isDeepStrictEqual } from 'node:util';
import { findCondition, parts } from '../../shared/gardener/checked.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import { seconds } from '../../shared/gardener/operation.ts';
import type { Applied, Condition, Extension, FluxStatus } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { mergeDiff } from '../../shared/kube/merge-patch.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import type { Assessment } from './assess.ts';
import { healthWhilePaused, SHOOT_HEALTH, shootHealth } from './health.ts';
import { isStuck, secondsUntilNextCheck, secondsWhileReconciling } from './next-check.ts';
import { type UntimedCondition, withConfigHash } from './verdict.ts';

/** Writes the verdicts to the Extension, and returns when to check the shoot again. */
export async function publish(
  seed: KubeClient,
  extension: Extension,
  applied: Applied,
  { verdicts, flux, isReconciling }: Assessment,
  context: Context,
): Promise<Outcome> {
  const now = context.now();
  const live = extension.status?.conditions ?? [];
  const shown = findCondition({ conditions: live }, SHOOT_HEALTH);
  const health = context.settings.shootHealth ? shootHealth(applied, verdicts, shown, now) : undefined;
  const current = [...verdicts, ...configurationFollowed(applied), ...(health === undefined ? [] : [health])];
  const next = mergeConditions(live, ownTypes, current, now);
  await write(seed, extension, next, context, flux);
  const own = (next ?? live).filter(({ type }) => verdicts.some((verdict) => verdict.type === type));
  const allTrue = verdicts.every(({ status }) => status === 'True');
  if (isStuck(extension, now)) return done;
  const since = { now, endedAt: Date.parse(extension.status?.lastOperation?.lastUpdateTime ?? '') || 0 };
  if (allTrue && isReconciling) return requeueAfter(secondsWhileReconciling(since));
  const followed = [managedResourceNames.controllers, managedResourceNames.sync];
  const isReleased = followed.every((name) => applied.managedResources[name] === undefined);
  const seconds = secondsUntilNextCheck(own, allTrue, isReleased, since);
  return seconds === undefined ? done : requeueAfter(seconds);
}

/**
 * Updates only the Shoot's health while the shoot is not assessed: it must not stay False during hibernation, and must
 * disappear when an operator disables it. The other conditions keep their last state.
 */
export async function publishWhilePaused(
  seed: KubeClient,
  extension: Extension,
  isHibernated: boolean,
  context: Context,
): Promise<void> {
  const live = extension.status?.conditions ?? [];
  const shown = findCondition({ conditions: live }, SHOOT_HEALTH);
  const health = context.settings.shootHealth ? healthWhilePaused(shown, isHibernated) : undefined;
  const current = health === undefined ? [] : [health];
  await write(seed, extension, mergeConditions(live, [SHOOT_HEALTH], current, context.now()), context);
}

/** Publishes why the Flux in the shoot is left alone: nothing of it is assessed. */
export async function publishForeign(seed: KubeClient, extension: Extension, context: Context): Promise<Outcome> {
  const { conditions = [], state } = extension.status ?? {};
  const leftAlone = { type: 'ConfigurationFollowed', status: 'False', reason: 'ForeignFlux' } as const;
  const current = state?.foreign === undefined ? [] : [{ ...leftAlone, message: state.foreign }];
  await write(seed, extension, mergeConditions(conditions, ownTypes, current, context.now()), context);
  return done;
}

/** Writes only to the version that was read, so the conditions of other writers are never lost (trap 11). */
async function write(
  seed: KubeClient,
  extension: Extension,
  next: Condition[] | undefined,
  { log }: Context,
  flux?: FluxStatus,
): Promise<void> {
  const fluxPatch = flux === undefined ? undefined : mergeDiff(extension.status?.providerStatus?.flux, flux);
  if (next === undefined && fluxPatch === undefined) return;
  const status = { conditions: next, ...(fluxPatch !== undefined && { providerStatus: { flux: fluxPatch } }) };
  const { resourceVersion } = extension.metadata;
  await seed.mergePatch(
    resources.extensions,
    extension.metadata,
    { metadata: { resourceVersion }, status },
    { fieldManager: 'shoot-flux-readiness', subresource: 'status' },
  );
  for (const { type, status, reason, message, codes } of next ?? []) {
    const before = findCondition(extension.status ?? {}, type);
    // Not only the revision or configuration in its message.
    if (before?.status === status && before.reason === reason) continue;
    if (status === 'True') log.info('condition changed', { type, status, reason });
    // A failure without a code only takes time; one with a code has to be corrected by a user.
    else log[codes === undefined ? 'info' : 'warn']('condition changed', { type, status, reason, error: message });
  }
}

/** The types of all conditions that this function writes. */
export const ownTypes = [...parts, 'ConfigurationFollowed', SHOOT_HEALTH];

/**
 * Returns the condition ConfigurationFollowed when `managed-resources` has recorded a problem with the configuration and
 * keeps the last applied objects.
 */
export function configurationFollowed(applied: Applied): UntimedCondition[] {
  const { problem } = applied;
  if (problem === undefined) return [];
  const condition = { type: 'ConfigurationFollowed', status: 'False', reason: 'LastAppliedStays' } as const;
  return [withConfigHash({ ...condition, message: problem }, applied)];
}

/**
 * Returns the whole list of conditions for a merge patch (trap 11): replaces the conditions of `types` by `current` and
 * preserves all others. Conditions that have not changed keep their times. Undefined when the list does not change.
 */
export function mergeConditions(
  live: Condition[],
  types: string[],
  current: UntimedCondition[],
  now: Date,
): Condition[] | undefined {
  const time = seconds(now.getTime());
  const own = current.map((condition): Condition => {
    const before = findCondition({ conditions: live }, condition.type);
    const says = ({ status, reason, message, codes }: UntimedCondition) => [status, reason, message, codes];
    if (before !== undefined && isDeepStrictEqual(says(before), says(condition))) return before;
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : time;
    return { ...condition, lastTransitionTime, lastUpdateTime: time };
  });
  const next = [...live.filter(({ type }) => !types.includes(type)), ...own];
  return JSON.stringify(next) === JSON.stringify(live) ? undefined : next;
}
