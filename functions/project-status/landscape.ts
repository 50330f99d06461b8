import { LANDSCAPE_NAMESPACE } from '../../shared/gardener/landscape.ts';
import { landscapeData, landscapeRolloutIn, secondsUntilOver } from '../../shared/gardener/rollout.ts';
import { findStatusMap, isOwn, patchStatusMap, secondsAfterOvertaken } from '../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { fieldManager } from './publish.ts';
import { causeOf, nextOf, type Result, recordResult } from './rollout.ts';

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
    const map = await findStatusMap(garden, LANDSCAPE_NAMESPACE);
    const live = map !== undefined && isOwn(map) ? landscapeRolloutIn(map) : undefined;
    if (map === undefined || live === undefined) return undefined;
    const next = recordResult(live, result, new Set());
    if (next === live) return secondsUntilOver(live, result.now);
    const written = await patchStatusMap(garden, map, landscapeData(next), fieldManager);
    if (written === undefined) continue;
    await wake(nextOf(next, 0, result.shoot), causeOf(written, LANDSCAPE_NAMESPACE), context);
    return secondsUntilOver(next, result.now);
  }
  return secondsAfterOvertaken(OFTEN);
}

/** Other seeds have a deployment of their own, whose Shoots check for themselves. */
async function wake(names: readonly string[], cause: Cause, { settings, send }: Context): Promise<void> {
  const changes = names.flatMap((name) => {
    const [cluster = '', namespace = ''] = name.split('/');
    const key = { cluster, namespace, name: EXTENSION_TYPE };
    return settings.seeds.includes(cluster) ? [{ function: 'managed-resources', key, cause }] : [];
  });
  if (changes.length > 0) await send(changes);
}
