import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { CREATION_REFUSED } from '../../shared/gardener/creation-refused.ts';
import { createEvent, eventAbout, type Notice } from '../../shared/gardener/event.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import type { Operation } from './pairs.ts';

/** The field manager of everything that this function writes. */
export const fieldManager = 'shoot-flux-keys';

/** The ConfigMap `flux-config` as the API server returns it. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** One attempt for a project's `flux-config`, as it was read. */
export interface Run {
  garden: KubeClient;
  configMap: ConfigMap;
  context: Context;
  namespace: string;
  operation: Operation | undefined;
}

/**
 * Checks, after the Secret was read, that the ConfigMap still requests the operation. Otherwise another run may have
 * completed this rotation and the user may have prepared the next one, which the old request must not complete.
 */
export async function checkStillRequested({ garden, configMap, namespace, operation }: Run): Promise<void> {
  if (operation === undefined) return;
  const { uid, resourceVersion } = configMap.metadata;
  const live = await garden.find(resources.configMaps, configMap.metadata, { metadataOnly: true });
  if (live?.metadata.uid === uid && live?.metadata.resourceVersion === resourceVersion) return;
  throw new ConflictError(`ConfigMap ${namespace}/${FLUX_CONFIG} has changed since it was read.`, 409, 'Conflict');
}

/** Removes the operation annotation. */
export async function removeOperation({ garden, configMap, context, operation }: Run): Promise<void> {
  if (operation === undefined) return;
  const { uid, resourceVersion } = configMap.metadata;
  const metadata = { uid, resourceVersion, annotations: { [OPERATION_ANNOTATION]: null } };
  await garden.mergePatch(resources.configMaps, configMap.metadata, { metadata }, { fieldManager });
  context.log.info('flux-config operation finished', { operation });
}

/**
 * Reports each notice once per ConfigMap as an Event; a repeated notice costs one read and no write.
 * @returns for how many seconds the newest of the Events has existed
 */
export async function report({ garden, configMap, context }: Run, notices: Notice[]): Promise<number> {
  let age = Number.POSITIVE_INFINITY;
  for (const notice of notices) {
    const event = eventOf(configMap, notice, context.now());
    const existing = await garden.find(resources.events, event.metadata, { metadataOnly: true });
    age = Math.min(age, secondsSince(existing?.metadata.creationTimestamp, context.now()));
    if (existing === undefined) await createEvent(garden, event, fieldManager);
  }
  return age;
}

/** Returns the Event for a notice. Equal notices about one ConfigMap have the same name, so each is reported once. */
export function eventOf({ metadata }: KubeObject, notice: Notice, now: Date): KubeObject {
  // `managed-resources` reads it by its name, to say the same in the Shoots that wait.
  const identity = notice.reason === CREATION_REFUSED ? [CREATION_REFUSED] : undefined;
  return eventAbout(resources.configMaps, metadata, notice, now, identity);
}
