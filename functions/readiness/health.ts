import { GRACE_SECONDS, SUSPENDED_REASON } from '../../shared/gardener/checked.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import type { UntimedCondition, Verdict } from './verdict.ts';

/** The Shoot condition that gardenlet copies from our Extension, if an operator enables it (decision 20). */
export const SHOOT_HEALTH = 'SystemComponentsHealthy';

/**
 * Returns the condition for the Shoot's health, with the statuses that gardenlet knows (rule 5.4), or undefined for
 * none. Only the parts that still follow the configuration count: released parts are the user's own, who may remove
 * them.
 * @param live the published condition: it says since when Flux has been failing
 */
export function shootHealth(
  applied: Applied,
  verdicts: Verdict[],
  live: Condition | undefined,
  now: Date,
): UntimedCondition | undefined {
  const followed = verdicts.filter(({ type }) => isFollowed(applied, type));
  if (followed.length === 0) return undefined;
  const notReady = followed.filter(({ status }) => status !== 'True');
  // An object that follows the configuration stays suspended only if the configuration says so.
  const failing = notReady.filter(({ reason }) => reason !== SUSPENDED_REASON);
  if (failing.length === 0) {
    return healthy(notReady.length === 0 ? 'Flux is healthy.' : 'Flux is healthy, apart from suspended objects.');
  }
  const message = failing.map((verdict) => verdict.message).join(' ');
  if (isInGracePeriod(live, now))
    return { type: SHOOT_HEALTH, status: 'Progressing', reason: 'HealthCheckProgressing', message };
  const isFalse = failing.some(({ status }) => status === 'False');
  const codes = [...new Set(failing.flatMap((verdict) => verdict.codes ?? []))];
  return {
    type: SHOOT_HEALTH,
    status: isFalse ? 'False' : 'Unknown',
    reason: isFalse ? 'HealthCheckUnsuccessful' : 'ConditionCheckError',
    message,
    ...(codes.length > 0 && { codes }),
  };
}

/** Returns the condition for the Shoot's health while the shoot is not assessed. */
export function healthWhilePaused(live: Condition | undefined, isHibernated: boolean): UntimedCondition | undefined {
  if (live === undefined || !isHibernated) return live;
  return healthy('The Shoot is hibernated.');
}

function healthy(message: string): UntimedCondition {
  return { type: SHOOT_HEALTH, status: 'True', reason: 'HealthCheckSuccessful', message };
}

function isFollowed({ managedResources }: Applied, type: Verdict['type']): boolean {
  const { controllers, sync } = managedResourceNames;
  return managedResources[type === 'FluxReady' ? controllers : sync] !== undefined;
}

/** The grace period starts with the first failed check. Once it is over, the condition does not return to Progressing. */
function isInGracePeriod(live: Condition | undefined, now: Date): boolean {
  if (live === undefined || live.status === 'True') return true;
  const since = Date.parse(live.lastTransitionTime);
  return live.status === 'Progressing' && now.getTime() - since < GRACE_SECONDS * 1000;
}
