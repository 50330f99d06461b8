import { FLUX_CONFIG, FLUX_SOURCE, NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/config/project-config.ts';
import { GITHUB_APP_KEYS } from '../../shared/config/project-secret-content.ts';
import { TLS_KEYS } from '../../shared/config/secret-values.ts';
import { CREATION_REFUSED, orRefused } from '../../shared/gardener/creation-refused.ts';
import { createEvent, eventAbout, type Notice } from '../../shared/gardener/event.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import type { Operation, SecretChange } from './pairs.ts';

/** The field manager of everything that this function writes. */
const fieldManager = 'shoot-flux-keys';

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

/** The Secret `flux-source`, or `flux-push`, as the API server returns it. */
export interface SourceSecret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}

/** Reads a Secret of the project. */
export function findSecret({ garden, namespace }: Run, name = FLUX_SOURCE): Promise<SourceSecret | undefined> {
  return garden.find<SourceSecret>(resources.secrets, { namespace, name });
}

/** The keys that decisions depend on. A project may have thousands of others in this Secret. */
const READ = [
  ...['identity', 'identity.pub', NEXT_IDENTITY, NEXT_PUBLIC_KEY, 'password', 'known_hosts'],
  ...['username', 'bearerToken', ...TLS_KEYS],
  ...GITHUB_APP_KEYS,
];

/** Returns the content that decisions depend on as text, without keys that have no value. */
export function contentOf({ data = {} }: SourceSecret): Record<string, string> {
  const entries = READ.map((key) => [key, Buffer.from(data[key] ?? '', 'base64').toString('utf8')] as const);
  return Object.fromEntries(entries.filter(([, value]) => value.trim() !== ''));
}

/** Creates or patches the Secret, unless it has changed since it was read. @throws CreationRefusedError, or a KubeError */
export async function writeSecret(
  { garden, namespace, context }: Run,
  secret: SourceSecret | undefined,
  { data, annotations }: SecretChange,
  name = FLUX_SOURCE,
): Promise<void> {
  const { uid, resourceVersion } = secret?.metadata ?? {};
  const change = { metadata: { uid, resourceVersion, annotations }, data: base64(data) };
  if (secret !== undefined) await garden.mergePatch(resources.secrets, { namespace, name }, change, { fieldManager });
  else {
    const kind = { apiVersion: apiVersionOf(resources.secrets), kind: resources.secrets.kind, type: 'Opaque' };
    // Where there is nothing, nothing is removed.
    const object = { ...kind, ...change, metadata: { namespace, name, annotations } } as KubeObject;
    await orRefused(garden.create(resources.secrets, object, { fieldManager }), {
      object: `Secret ${namespace}/${name}`,
      remedy: `create it empty with \`kubectl create secret generic ${name} --namespace ${namespace}\`, and shoot-flux fills it`,
    });
  }
  context.log.info(`${name} written`, { keys: Object.keys(data).join(',') });
}

function base64(data: Record<string, string | null>): Record<string, string | null> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
}
