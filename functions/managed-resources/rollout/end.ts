import { ROLLOUT } from '../../../shared/config/documents.ts';
import { FLUX_CONFIG } from '../../../shared/config/project-config.ts';
import { ROLLOUT_STATE, ROLLOUT_TEXT } from '../../../shared/gardener/rollout/text.ts';
import { isOwn, statusMapName } from '../../../shared/gardener/status/status-map.ts';
import { ConflictError, NotFoundError } from '../../../shared/kube/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { fieldsOf } from '../../../shared/shapes.ts';
import { fieldManager } from '../release.ts';
import type { Run } from '../run.ts';

/**
 * Removes the rollout from `flux-status` once the project asks for none: what it says would stay there for ever. Only a
 * Shoot that had one looks, before its record says that it has none.
 * @returns undefined when nothing is left of it
 */
export async function endRollout({ cluster, context }: Run): Promise<Outcome | undefined> {
  const { namespace = '' } = cluster.spec.shoot.metadata;
  const garden = await context.kube(GARDEN);
  const map = await garden.find(resources.configMaps, statusMapName(namespace));
  const data = fieldsOf(map?.data);
  if (map === undefined || !isOwn(map) || (data?.[ROLLOUT_TEXT] ?? data?.[ROLLOUT_STATE]) === undefined)
    return undefined;
  // What was read after the state is at least as new: a rollout that has begun since then stays.
  const configMap = await garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  if (fieldsOf(configMap?.data)?.[ROLLOUT] !== undefined) return requeueAfter(1);
  const { uid, resourceVersion } = map.metadata;
  const body = { metadata: { uid, resourceVersion }, data: { [ROLLOUT_TEXT]: null, [ROLLOUT_STATE]: null } };
  try {
    await garden.mergePatch(resources.configMaps, statusMapName(namespace), body, { fieldManager });
    return undefined;
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return requeueAfter(1);
    throw error;
  }
}
