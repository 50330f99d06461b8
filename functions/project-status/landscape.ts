import { OPERATORS_NAMESPACE } from '../../shared/config/project-config.ts';
import { landscapeData } from '../../shared/gardener/landscape.ts';
import { landscapeRolloutIn, secondsUntilOver } from '../../shared/gardener/rollout.ts';
import { changesInLandscape } from '../../shared/gardener/shoot-changes.ts';
import {
  causeOfStatus,
  findStatusMap,
  isOwn,
  patchStatusMap,
  secondsAfterOvertaken,
} from '../../shared/gardener/status-map.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { fieldManager } from './publish.ts';
import { nextOf, type Result, recordResult } from './rollout.ts';

/** Two Shoots that end at the same moment need no second run. */
const ATTEMPTS = 2;

/** As many as may end at the same moment. */
const OFTEN = 20;

/**
 * Records in the rollout of the landscape what has become of a Shoot, and wakes those of this deployment whose turn is next.
 * @returns seconds until the next run that may end the rollout; undefined: others do, or there is none
 */
export async function recordInLandscape(
  garden: KubeClient,
  result: Result,
  context: Context,
): Promise<number | undefined> {
  if (context.settings.rollout === undefined) return undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const map = await findStatusMap(garden, OPERATORS_NAMESPACE);
    const live = map !== undefined && isOwn(map) ? landscapeRolloutIn(map) : undefined;
    if (map === undefined || live === undefined) return undefined;
    const next = recordResult(live, result, new Set(result.end === 'ready' ? [result.shoot] : []));
    if (next === live) return secondsUntilOver(live, result.now);
    const written = await patchStatusMap(garden, map, landscapeData(next, map), fieldManager);
    if (written === undefined) continue;
    const names = nextOf(next, 0, result.shoot);
    // Other seeds have a deployment of their own, whose Shoots check for themselves.
    const changes = changesInLandscape(names, context.settings.seeds, causeOfStatus(written));
    if (changes.length > 0) await context.send(changes);
    return secondsUntilOver(next, result.now);
  }
  return secondsAfterOvertaken(OFTEN);
}
