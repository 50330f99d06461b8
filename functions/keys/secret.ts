import { FLUX_SOURCE, NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/config/project-config.ts';
import { GITHUB_APP_KEYS } from '../../shared/config/project-secret-content.ts';
import { TLS_KEYS } from '../../shared/config/secret-values.ts';
import { orRefused } from '../../shared/gardener/creation-refused.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { fieldManager, type Run } from './config-map.ts';
import type { SecretChange } from './pairs.ts';

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
  const entries = READ.flatMap((key) => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    return value === undefined ? [] : [[key, Buffer.from(value, 'base64').toString('utf8')] as const];
  });
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
