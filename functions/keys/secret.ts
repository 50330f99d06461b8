import { FLUX_SOURCE, NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/config/project-config.ts';
import { GITHUB_APP_KEYS } from '../../shared/config/project-secret-content.ts';
import { TLS_KEYS } from '../../shared/config/secret-values.ts';
import { orRefused } from '../../shared/gardener/creation-refused.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { fieldManager, type Run } from './config-map.ts';
import type { SecretChange } from './pairs.ts';

/** The Secret `flux-source` as the API server returns it. */
export interface SourceSecret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}

/** Reads the project's Secret `flux-source`. */
export function findSecret({ garden, namespace }: Run): Promise<SourceSecret | undefined> {
  return garden.find<SourceSecret>(resources.secrets, { namespace, name: FLUX_SOURCE });
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
): Promise<void> {
  const name = { namespace, name: FLUX_SOURCE };
  const { uid, resourceVersion } = secret?.metadata ?? {};
  const change = { metadata: { uid, resourceVersion, annotations }, data: base64(data) };
  if (secret !== undefined) await garden.mergePatch(resources.secrets, name, change, { fieldManager });
  else {
    const kind = { apiVersion: apiVersionOf(resources.secrets), kind: resources.secrets.kind, type: 'Opaque' };
    // Where there is nothing, nothing is removed.
    const object = { ...kind, ...change, metadata: { ...name, annotations } } as KubeObject;
    await orRefused(garden.create(resources.secrets, object, { fieldManager }), {
      object: `Secret ${namespace}/${FLUX_SOURCE}`,
      remedy:
        `create it empty with \`kubectl create secret generic ${FLUX_SOURCE} --namespace ${namespace}\`, ` +
        'and shoot-flux fills it',
    });
  }
  context.log.info('flux-source written', { keys: Object.keys(data).join(',') });
}

function base64(data: Record<string, string | null>): Record<string, string | null> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
}
