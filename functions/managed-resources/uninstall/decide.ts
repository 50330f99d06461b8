import type { DeletionPolicy } from '../../../shared/config/types.ts';
import { isTrue } from '../../../shared/gardener/is-true.ts';
import { type Applied, type Cluster, type Extension, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import { growingPause, secondsSince } from '../../../shared/runtime/growing-pause.ts';
import { writtenDeletionPolicy } from '../plan/deletion-policy.ts';
import { isBootstrapped, updateScope } from '../plan/scope.ts';

/** gardenlet waits three minutes for a deletion or a migration, which nothing configures (rule 1.5). */
const GARDENLET_PATIENCE_SECONDS = 180;
const SHOOT_PATIENCE_SECONDS = 120;
/** After this time, suspended objects that cannot be resumed stay suspended: the last half minute is for releasing. */
const RESUME_PATIENCE_SECONDS = 150;
/** gardenlet repeats a deletion that did not end, and each request has its own patience; all of them together have this. */
const REMOVAL_PATIENCE_SECONDS = 900;
/** A running resource-manager removes its finalizer within seconds. */
const RELEASE_PATIENCE_SECONDS = 60;

const FORCE_DELETION_ANNOTATION = 'confirmation.gardener.cloud/force-deletion';

/** How the extension leaves a Shoot. */
export interface Removal {
  /** The last record, when Flux is removed from the shoot; absent: Flux stays there. */
  uninstall?: Applied;
  /** Why Flux stays against the deletion policy; one sentence. */
  staysBecause?: string;
  /**
   * Set when an earlier run may have suspended objects: resuming them `must` succeed before the extension leaves, or
   * `may` fail where waiting is impossible.
   */
  resumes?: 'must' | 'may';
  /** True: all attempts together have taken too long, so that nothing more is waited for. */
  isOver?: boolean;
  /** True: no resource-manager will remove its finalizer. With `keepObjects` nothing is lost by removing it ourselves. */
  removesFinalizers: boolean;
  /** True: the shoot is going, does not run, or has not answered for too long; what it cannot take is not waited for. */
  isLost: boolean;
  /** True: releasing takes longer than a running resource-manager needs. */
  isOverdue: boolean;
  /** The next check, in case the watch misses that a ManagedResource is gone; nothing of the shoot sends events. */
  recheckInSeconds: number;
}

/** Decides whether Flux is removed, and which obstacles are not worth waiting for. */
export function decideRemoval(extension: Extension, cluster: Cluster, now: Date): Removal {
  const { shoot } = cluster.spec;
  const waited = secondsSinceAsked(extension, now);
  const isForced = isTrue(shoot.metadata.annotations?.[FORCE_DELETION_ANNOTATION]);
  const isOverdue = waited > RELEASE_PATIENCE_SECONDS;
  const releasing = {
    isOverdue,
    isLost:
      isForced ||
      shoot.metadata.deletionTimestamp !== undefined ||
      shoot.spec?.hibernation?.enabled === true ||
      waited > SHOOT_PATIENCE_SECONDS,
    removesFinalizers: isForced || shoot.status?.hibernated === true || isOverdue,
    // Once gardenlet has stopped waiting, only a foreign finalizer is left, which may stay for days.
    recheckInSeconds: waited <= GARDENLET_PATIENCE_SECONDS ? 2 : growingPause(waited, 30),
  };
  const applied = extension.status?.state?.applied;
  if (applied === undefined) return releasing;
  if (deletionPolicy(extension, applied) === 'Orphan') return releasing;
  // The nodes are gone, or the whole shoot soon is; its API may be gone, too.
  if (isForced || shoot.metadata.deletionTimestamp !== undefined) return releasing;
  if (shoot.spec?.hibernation?.enabled === true) {
    const staysBecause = 'The Shoot is hibernated, so Flux stays in the shoot.';
    return { ...releasing, staysBecause, ...(shoot.status?.hibernated === true ? {} : { resumes: 'may' }) };
  }
  const isOver = secondsSince(applied.removalBegan, now) > REMOVAL_PATIENCE_SECONDS;
  if (isOver || waited > SHOOT_PATIENCE_SECONDS) {
    const seconds = isOver ? REMOVAL_PATIENCE_SECONDS : SHOOT_PATIENCE_SECONDS;
    const staysBecause = `Flux could not be removed within ${seconds} s; the rest of it stays in the shoot.`;
    return { ...releasing, staysBecause, isOver, resumes: isOver || waited > RESUME_PATIENCE_SECONDS ? 'may' : 'must' };
  }
  return { ...releasing, uninstall: applied };
}

/**
 * The policy in the Extension itself counts first: no run may have seen it yet. The ConfigMap is never read for a
 * removal; the record has its policy. Without a policy, a Flux that the sync mode has released is the user's.
 */
function deletionPolicy(extension: Extension, applied: Applied): DeletionPolicy {
  const written = writtenDeletionPolicy({ providerConfig: extension.spec.providerConfig }) ?? applied.deletionPolicy;
  if (written !== undefined) return written;
  return updateScope(applied.syncMode, isBootstrapped(extension), applied).install ? 'Uninstall' : 'Orphan';
}

/**
 * Counts from gardenlet's last request: it repeats a deletion that did not end in time, with another timestamp and
 * another three minutes (rule 1.5). The second attempt makes up for a first one that found us down or the Shoot Failed.
 */
function secondsSinceAsked({ metadata }: Extension, now: Date): number {
  const asked = [metadata.deletionTimestamp, metadata.annotations?.[TIMESTAMP_ANNOTATION]]
    .map((time) => Date.parse(time ?? ''))
    .filter((millis) => !Number.isNaN(millis));
  return asked.length === 0 ? 0 : (now.getTime() - Math.max(...asked)) / 1000;
}

/**
 * Returns when to recheck a Shoot that is being deleted. A shoot that was hibernated takes minutes to wake up, and
 * gardenlet then cleans it for ten minutes before it retries.
 */
export function cleanupRecheckSeconds({ spec: { shoot } }: Cluster, now: Date): number {
  return growingPause(secondsSince(shoot.metadata.deletionTimestamp, now), 10);
}
