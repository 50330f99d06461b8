import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import { SUSPENDED, type Told, type Verdict } from './verdict.ts';

/** The condition of the Shoot that gardenlet takes from our Extension, where an operator wants that (decision 20). */
export const SHOOT_HEALTH = 'SystemComponentsHealthy';

/** What is broken for no longer than this may be an image that is pulled, or a push that is mended already. */
const GRACE_SECONDS = 300;

/**
 * Pure: what the Shoot's health is told, in the words that gardenlet knows (facts/gardener.md 5.4); undefined: nothing.
 * Only what still follows the configuration counts: what the mode has released is the user's own, who may also remove
 * it.
 * @param live what is published now: it tells since when something is broken
 */
export function shootHealth(
  applied: Applied,
  verdicts: Verdict[],
  live: Condition | undefined,
  now: Date,
): Told | undefined {
  const followed = verdicts.filter(({ type }) => isFollowed(applied, type));
  if (followed.length === 0) return undefined;
  const notReady = followed.filter(({ status }) => status !== 'True');
  // What follows the configuration stays suspended only where that says so.
  const broken = notReady.filter(({ reason }) => reason !== SUSPENDED);
  if (broken.length === 0) {
    const message = notReady.length === 0 ? 'Flux works.' : 'Flux works, as far as it is not suspended.';
    return { type: SHOOT_HEALTH, status: 'True', reason: 'HealthCheckSuccessful', message };
  }
  const message = broken.map((verdict) => verdict.message).join(' ');
  if (isYoung(live, now))
    return { type: SHOOT_HEALTH, status: 'Progressing', reason: 'HealthCheckProgressing', message };
  const failed = broken.some(({ status }) => status === 'False');
  const codes = [...new Set(broken.flatMap((verdict) => verdict.codes ?? []))];
  return {
    type: SHOOT_HEALTH,
    status: failed ? 'False' : 'Unknown',
    reason: failed ? 'HealthCheckUnsuccessful' : 'ConditionCheckError',
    message,
    ...(codes.length > 0 && { codes }),
  };
}

/** What is told while the shoot is not asked. */
export function restingHealth(live: Condition | undefined, isHibernated: boolean): Told | undefined {
  if (live === undefined || !isHibernated) return live;
  return { type: SHOOT_HEALTH, status: 'True', reason: 'HealthCheckSuccessful', message: 'The Shoot is hibernated.' };
}

function isFollowed({ managedResources }: Applied, type: Verdict['type']): boolean {
  const { controllers, sync } = managedResourceNames;
  return managedResources[type === 'FluxReady' ? controllers : sync] !== undefined;
}

/** Progressing is told from the first failed look on, and once it has become more it does not become less. */
function isYoung(live: Condition | undefined, now: Date): boolean {
  if (live === undefined || live.status === 'True') return true;
  const since = Date.parse(live.lastTransitionTime);
  return live.status === 'Progressing' && now.getTime() - since < GRACE_SECONDS * 1000;
}
