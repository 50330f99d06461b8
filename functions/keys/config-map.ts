import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from '../../shared/kube/errors.ts';
import { resources } from '../../shared/kube/resource.ts';
import { eventOf } from './event.ts';
import type { Notice } from './notice.ts';
import { fieldManager, type Run } from './run.ts';

/**
 * Whether the operation is asked for now that the Secret has been read. Else another run may have completed a
 * rotation in between and somebody prepared the next one, which the old request would complete unasked.
 */
export async function isStillAsked({ garden, configMap, operation }: Run): Promise<boolean> {
  if (operation === undefined) return true;
  const { uid, resourceVersion } = configMap.metadata;
  const live = await garden.find(resources.configMaps, configMap.metadata, { metadataOnly: true });
  return live?.metadata.uid === uid && live?.metadata.resourceVersion === resourceVersion;
}

/** False when the ConfigMap is no longer what was read. */
export async function removeOperation({ garden, configMap, context, operation }: Run): Promise<boolean> {
  if (operation === undefined) return true;
  const { uid, resourceVersion } = configMap.metadata;
  const metadata = { uid, resourceVersion, annotations: { [OPERATION_ANNOTATION]: null } };
  try {
    await garden.mergePatch(resources.configMaps, configMap.metadata, { metadata }, { fieldManager });
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return false;
    throw error;
  }
  context.log.info('operation of flux-config ended', { operation });
  return true;
}

/** Each notice once for a ConfigMap: what was told already costs one read and no write. */
export async function tell({ garden, configMap, context }: Run, notices: Notice[]): Promise<void> {
  for (const notice of notices) {
    const event = eventOf(configMap, notice, context.now());
    if ((await garden.find(resources.events, event.metadata, { metadataOnly: true })) !== undefined) continue;
    try {
      await garden.create(resources.events, event, { fieldManager });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
    }
  }
}
