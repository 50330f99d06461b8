import type { DeletionPolicy } from '../../../shared/config/effective.ts';
import { isTrue } from '../../../shared/gardener/is-true.ts';
import { type Applied, type Cluster, type Extension, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import { followed, isBootstrapped } from '../desired/follow.ts';

/** gardenlet waits three minutes for a deletion or a migration, whatever is configured (facts/gardener.md 1.5). */
const SHOOT_PATIENCE_SECONDS = 120;
/** What we have suspended and cannot resume by then stays so: the last half minute is for letting go. */
const RESUME_PATIENCE_SECONDS = 150;
/** A resource-manager that runs lets go within seconds. */
const RELEASE_PATIENCE_SECONDS = 60;

const FORCE_DELETION_ANNOTATION = 'confirmation.gardener.cloud/force-deletion';

/** How the extension leaves. */
export interface Removal {
  /** What was applied last, when Flux is to be removed from the shoot; absent: it stays there. */
  uninstall?: Applied;
  /** Why Flux stays although it was to be removed; one sentence. */
  stays?: string;
  /**
   * It may have been begun to remove it, so what is left of it may be suspended: that `must` go on before the extension
   * leaves, or `may` where nobody can wait for it.
   */
  resumes?: 'must' | 'may';
  /** True: nobody else will take the resource-manager's finalizer away. With `keepObjects` nothing is lost by it. */
  stripFinalizers: boolean;
  /** True: it takes longer than a resource-manager that runs. */
  isOverdue: boolean;
}

/** Pure: what is removed, and what nobody can wait for. */
export function removal(extension: Extension, cluster: Cluster, now: Date): Removal {
  const { shoot } = cluster.spec;
  const waited = secondsSinceAsked(extension, now);
  const isForced = isTrue(shoot.metadata.annotations?.[FORCE_DELETION_ANNOTATION]);
  const isOverdue = waited > RELEASE_PATIENCE_SECONDS;
  const letGo = { isOverdue, stripFinalizers: isForced || shoot.status?.hibernated === true || isOverdue };
  const applied = extension.status?.state?.applied;
  if (applied === undefined || deletionPolicy(extension, applied) === 'Orphan') return letGo;
  // The nodes are gone, or the whole shoot soon is; its API may be, too.
  if (isForced || shoot.metadata.deletionTimestamp !== undefined) return letGo;
  if (shoot.spec?.hibernation?.enabled === true) {
    const stays = 'The Shoot is hibernated, so Flux stays in it.';
    return { ...letGo, stays, ...(shoot.status?.hibernated === true ? {} : { resumes: 'may' }) };
  }
  if (waited > SHOOT_PATIENCE_SECONDS) {
    const stays = `Flux could not be removed within ${SHOOT_PATIENCE_SECONDS} s; what is left of it stays.`;
    return { ...letGo, stays, resumes: waited > RESUME_PATIENCE_SECONDS ? 'may' : 'must' };
  }
  return { ...letGo, uninstall: applied };
}

/** Where the mode has let go of Flux, it is the user's. */
function deletionPolicy(extension: Extension, applied: Applied): DeletionPolicy {
  if (applied.deletionPolicy !== undefined) return applied.deletionPolicy;
  return followed(applied.syncMode, isBootstrapped(extension), applied).install ? 'Uninstall' : 'Orphan';
}

/**
 * gardenlet repeats a deletion that did not end in time, with another timestamp and another three minutes (facts/gardener.md
 * 1.5): what we could not do in the first, because we were away or the Shoot was Failed, is done in the next.
 */
function secondsSinceAsked({ metadata }: Extension, now: Date): number {
  const asked = [metadata.deletionTimestamp, metadata.annotations?.[TIMESTAMP_ANNOTATION]]
    .map((time) => Date.parse(time ?? ''))
    .filter((millis) => !Number.isNaN(millis));
  return asked.length === 0 ? 0 : (now.getTime() - Math.max(...asked)) / 1000;
}

/**
 * Pure: when to look again at a Shoot that is being deleted. A shoot that slept takes minutes to wake up, and gardenlet
 * then cleans it for ten before it tries again.
 */
export function cleanUpLookSeconds({ spec: { shoot } }: Cluster, now: Date): number {
  const seconds = (now.getTime() - Date.parse(shoot.metadata.deletionTimestamp ?? '')) / 1000;
  return Math.min(300, Math.max(10, Math.ceil(seconds / 6)));
}
