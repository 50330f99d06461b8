import { rolloutData, rolloutIn } from '../../shared/gardener/rollout.ts';
import {
  changesFor,
  countOf,
  createStatusMap,
  findStatusMap,
  isOwn,
  type Line,
  patchStatusMap,
  readyShootsOf,
  secondsAfterOvertaken,
  shootsOf,
} from '../../shared/gardener/status-map.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { InvalidError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { type Result, recordResult } from './rollout.ts';

/** The field manager of everything that this function writes. */
export const fieldManager = 'shoot-flux-project-status';

/** How a line was published. */
export type Published =
  | { type: 'unchanged' | 'no room' | 'refused' | 'not created' }
  /** With the ConfigMap as it is now. */
  | { type: 'written'; map: KubeObject }
  /** Others write at the same moment: try again later. */
  | { type: 'overtaken'; afterSeconds: number };

/** A Shoot's place in the `flux-status` of its project. */
export interface Place {
  garden: KubeClient;
  namespace: string;
  shoot: string;
}

/** Two Shoots that change at the same moment need no second run. */
const ATTEMPTS = 2;

/**
 * Writes the line of one Shoot together with the summary of all, in one write to the version that was read: so the
 * summary counts the lines beside it, in any order of runs and wherever a run is killed.
 * @param live as it was read; undefined: it does not exist
 * @param line undefined removes it
 * @param gone another Shoot, whose line is removed as well
 * @param result what a rollout learns from it
 * @throws CreationRefusedError
 */
export async function publish(
  place: Place,
  live: KubeObject | undefined,
  line: Line | undefined,
  gone: string | undefined,
  result: Result,
): Promise<Published> {
  let current = live;
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (current === undefined && line === undefined) return { type: 'unchanged' };
      current ??= await createStatusMap(place.garden, place.namespace, fieldManager);
      const changes = changesFor(current, place.shoot, line, gone);
      const ofRollout = rolloutChanges(current, result, gone);
      if (changes === 'no room' && ofRollout === undefined) return { type: 'no room' };
      if (changes === undefined && ofRollout === undefined) return { type: 'unchanged' };
      const data = { ...(changes !== 'no room' && changes), ...ofRollout };
      const map = await patchStatusMap(place.garden, current, data, fieldManager);
      if (map !== undefined) return { type: 'written', map };
      current = await findStatusMap(place.garden, place.namespace);
      if (current !== undefined && !isOwn(current)) break;
    }
  } catch (error) {
    // For example because it is immutable, or full of what others have written.
    if (error instanceof InvalidError) return { type: 'refused' };
    throw error;
  }
  return { type: 'overtaken', afterSeconds: secondsAfterOvertaken(countOf(current)) };
}

/** Returns the keys of a rollout that change with what has become of a Shoot; undefined: none. */
function rolloutChanges(map: KubeObject, result: Result, gone: string | undefined): Record<string, string> | undefined {
  const state = rolloutIn(map);
  if (state === undefined) return undefined;
  const ready = readyShootsOf(map);
  // Its line changes in the same write.
  if (result.end === 'ready') ready.add(result.shoot);
  else ready.delete(result.shoot);
  const own = recordResult(state, result, ready);
  const next = gone === undefined ? own : recordResult(own, { ...result, shoot: gone, end: 'gone' }, ready);
  return next === state ? undefined : rolloutData(next, shootsOf(map).size);
}
