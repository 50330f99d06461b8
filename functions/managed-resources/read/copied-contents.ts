import { isReservedForGardener, isSsh } from '../../../shared/config/checks.ts';
import { limits, limitText } from '../../../shared/config/limits.ts';
import { isFromRepositoryUrl, originOf } from '../../../shared/config/origins.ts';
import {
  FLUX_CONFIG,
  FLUX_REGISTRY,
  FLUX_REGISTRY_CA,
  FLUX_SOURCE,
  NEXT_IDENTITY,
  NEXT_PUBLIC_KEY,
  type ProjectSecretName,
} from '../../../shared/config/project-config.ts';
import {
  CERTIFICATE,
  DOCKER_CONFIG,
  DOCKER_CONFIG_TYPE,
  GITHUB_APP_KEYS,
  githubAppProblem,
  pullSecretProblem,
} from '../../../shared/config/project-secret-content.ts';
import { quote } from '../../../shared/config/quote.ts';
import type { CopiedSecret, EffectiveConfig, PullSecret } from '../../../shared/config/types.ts';
import { ConfigError } from '../../../shared/errors.ts';
import type { ConfigMapContent, SecretContent } from '../../../shared/flux/release.ts';
import { CREATION_REFUSED } from '../../../shared/gardener/creation-refused.ts';
import { eventName, MAX_LENGTH } from '../../../shared/gardener/event.ts';
import { isTrue, lengthInContent } from '../../../shared/gardener/managed-resource.ts';
import { referenceCopy } from '../../../shared/gardener/references.ts';
import { ForbiddenError, unless } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectName, type Resource, resources } from '../../../shared/kube/resource.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { safeText } from '../../../shared/runtime/safe-text.ts';
import { scannedLines, sshHost } from '../../../shared/ssh/known-hosts.ts';
import type { Run } from '../run.ts';

/** The contents of the Secrets and ConfigMaps that are copied into the shoot. */
export interface CopiedContents {
  secrets: SecretContent[];
  configMaps: ConfigMapContent[];
  /** When Gardener renews each token among the Secrets, in epoch ms; 0 where it does not say. */
  renewals: number[];
}

/** Something is not there yet; the sentence says what. */
export interface Missing {
  missing: string;
  /** True: it is the landscape's, so the user of the Shoot cannot correct it. */
  isOfLandscape?: boolean;
}

interface Copied {
  secret?: SecretContent;
  configMap?: ConfigMapContent;
  renewal?: number;
}

/** Reads one object; undefined: it does not exist. */
type Read = (cluster: 'garden' | 'seed', resource: Resource, name: ObjectName) => Promise<KubeObject | undefined>;

/**
 * Reads the content of everything that the configuration names, each object once, up to the first missing one.
 * @param ofProject the Secrets of the project by name, which have been read already
 * @throws ConfigError when the copies are too large together; what follows is not read
 */
export async function readCopiedContents(
  run: Run,
  config: EffectiveConfig,
  ofProject: ReadonlyMap<string, KubeObject>,
): Promise<CopiedContents | Missing> {
  const read = readOnce(run);
  const limitCopies = countCopies(config, run.cluster.spec.shoot.metadata.namespace);
  const readOne = async (copied: CopiedSecret): Promise<Copied | Missing> => {
    const { origin } = copied;
    switch (origin.type) {
      case 'project':
        return { secret: projectContent(ofProject.get(origin.name) as KubeObject, copied, origin.name) };
      case 'landscape':
        return readPullSecret(read, copied, origin.secret);
      case 'flux-source':
        return readFluxSource(run, read, copied, config);
      case 'resource':
        return readReference(run, read, copied, origin.resourceName);
    }
  };
  const found: Copied[] = [];
  for (const copied of [config.pullSecret, config.sourceSecret, ...config.additionalSecrets]) {
    if (copied === undefined) continue;
    const one = await readOne(copied);
    if ('missing' in one) return one;
    const content = one.secret ?? one.configMap;
    // The landscape's is not the user's to make smaller, and has a limit of its own.
    if (copied !== config.pullSecret && content !== undefined) limitCopies(content);
    found.push(one);
  }
  return {
    secrets: found.flatMap(({ secret }) => secret ?? []),
    configMaps: found.flatMap(({ configMap }) => configMap ?? []),
    renewals: found.flatMap(({ renewal }) => renewal ?? []),
  };
}

function readOnce({ context, seed }: Run): Read {
  const known = new Map<string, Promise<KubeObject | undefined>>();
  return (cluster, resource, name) => {
    const key = `${cluster} ${resource.plural} ${name.namespace}/${name.name}`;
    const read = async () => (cluster === 'garden' ? await context.kube(GARDEN) : seed).find(resource, name);
    const object = known.get(key) ?? read();
    known.set(key, object);
    return object;
  };
}

/** Reads the landscape's pull secret. Only the key that nodes read is copied. */
async function readPullSecret(read: Read, copied: CopiedSecret, pullSecret: PullSecret): Promise<Copied | Missing> {
  const { namespace, name } = pullSecret;
  const live = read(pullSecret.in, resources.secrets, { namespace, name });
  // A self-hosted Shoot may not read that of the garden.
  const answer = await unless(
    live.then((secret) => ({ secret })),
    ForbiddenError,
  );
  const secret = answer?.secret;
  const problem = answer === undefined ? 'may not be read' : pullSecretProblem(secret);
  if (secret === undefined || problem !== undefined) {
    const missing = `Secret ${namespace}/${name} in the ${pullSecret.in}, the landscape's pull secret, ${problem}; the operators of this landscape have to correct it.`;
    return { missing, isOfLandscape: true };
  }
  const place = { name: copied.targetName ?? name, namespace: copied.namespace };
  return { secret: { ...place, type: DOCKER_CONFIG_TYPE, data: registryData(dataOf(secret)) } };
}

/**
 * Returns the copy of a Secret of the project. Of credentials for registries only the key that nodes read is copied; the
 * certificate beside them goes into a Secret of its own, of a type that Flux accepts for it.
 */
export function projectContent(secret: KubeObject, copied: CopiedSecret, name: ProjectSecretName): SecretContent {
  const content = secretContent(secret, copied, name);
  if (name !== FLUX_REGISTRY) return content;
  const { [CERTIFICATE]: certificate = '' } = content.data;
  return copied.targetName === FLUX_REGISTRY_CA
    ? { ...content, type: 'Opaque', data: { [CERTIFICATE]: certificate } }
    : { ...content, data: registryData(content.data) };
}

function registryData({ [DOCKER_CONFIG]: content = '' }: Record<string, string>): Record<string, string> {
  return { [DOCKER_CONFIG]: content };
}

async function readFluxSource(
  { cluster }: Run,
  read: Read,
  copied: CopiedSecret,
  { source, origins }: EffectiveConfig,
): Promise<Copied | Missing> {
  const { provider, url } = (source?.spec ?? {}) as { provider?: unknown; url?: string };
  // Where the source is in `config.yaml` or `overrides.yaml`, users write the Secret themselves.
  const isOfKeys = isFromRepositoryUrl(origins);
  const project = cluster.spec.shoot.metadata.namespace ?? '';
  const secret = await read('garden', resources.secrets, { namespace: project, name: FLUX_SOURCE });
  const where = `Secret ${project}/flux-source in the garden`;
  if (secret === undefined) {
    if (!isOfKeys) return { missing: `${where} does not exist; create it with the credentials that the source needs.` };
    const refusal = url !== undefined && isSsh(url) ? await refusalOfKeys(read, project) : undefined;
    return {
      missing: refusal ?? `${where} does not exist yet; see the Events of ConfigMap ${project}/flux-config.`,
    };
  }
  const data = dataOf(secret);
  if (url !== undefined && isSsh(url) && data.identity !== undefined && data.known_hosts === undefined) {
    return isOfKeys
      ? { missing: `${where} has no known_hosts yet; set "knownHosts" in ConfigMap ${project}/flux-config.` }
      : { missing: `${where} has no known_hosts; add ${scannedLines(sshHost(url))} under this key.` };
  }
  const problem = provider === 'github' ? githubAppProblemOf(data) : undefined;
  if (problem !== undefined) return { missing: `${where}: ${problem}.` };
  return { secret: secretContent(secret, copied, FLUX_SOURCE) };
}

/** Returns what `keys` has reported where it may not create the Secret; undefined: nothing, or the Event is too old. */
async function refusalOfKeys(read: Read, project: string): Promise<string | undefined> {
  const configMap = await read('garden', resources.configMaps, { namespace: project, name: FLUX_CONFIG });
  if (configMap === undefined) return undefined;
  const { uid = '' } = configMap.metadata;
  const name = eventName({ name: FLUX_CONFIG, uid }, [CREATION_REFUSED]);
  // Without the right, the sentence only lacks what `keys` has reported.
  const event = await unless(read('garden', resources.events, { namespace: project, name }), ForbiddenError);
  return typeof event?.message === 'string' ? safeText(event.message, MAX_LENGTH) : undefined;
}

function githubAppProblemOf(data: Record<string, string>): string | undefined {
  const values = GITHUB_APP_KEYS.map((key) => [key, Buffer.from(data[key] ?? '', 'base64').toString('utf8')] as const);
  return githubAppProblem(Object.fromEntries(values.filter(([, value]) => value.trim() !== '')));
}

/** Gardener makes the copy in the control plane asynchronously, so it may lag (trap 32). */
async function readReference(
  { namespace, cluster }: Run,
  read: Read,
  copied: CopiedSecret,
  resourceName: string,
): Promise<Copied | Missing> {
  const { shoot } = cluster.spec;
  const reference = shoot.spec?.resources?.find(({ name }) => name === resourceName)?.resourceRef;
  if (reference === undefined) {
    return {
      missing: `The Shoot's spec.resources has no entry ${quote(resourceName)} yet; add one that references the Secret, ConfigMap or WorkloadIdentity.`,
    };
  }
  const { resource, name, isToken } = referenceCopy(reference);
  const copy = await read('seed', resource, { namespace, name });
  const where = `${reference.kind} ${shoot.metadata.namespace ?? ''}/${reference.name} (spec.resources ${quote(resourceName)})`;
  if (isToken && (copy === undefined || dataOf(copy).token === undefined)) {
    return { missing: `${where} has no token in the control plane yet; check that it exists.` };
  }
  if (copy === undefined) {
    return { missing: `${where} has not been copied to the control plane yet; check that it exists.` };
  }
  if (resource === resources.configMaps) {
    const { data, binaryData } = copy as Pick<ConfigMapContent, 'data' | 'binaryData'>;
    const place = { name: copied.targetName ?? reference.name, namespace: copied.namespace };
    return { configMap: { ...place, data, binaryData } };
  }
  const secret = secretContent(copy, copied, reference.name);
  return isToken ? { secret, renewal: Date.parse(copy.metadata.annotations?.[RENEWAL] ?? '') || 0 } : { secret };
}

/** gardenlet writes it with every token. */
const RENEWAL = 'workloadidentity.security.gardener.cloud/token-renew-timestamp';

/** Leaves out the key pair of a rotation that is not completed, also where a Shoot lists `flux-source` itself. */
function secretContent(secret: KubeObject, copied: CopiedSecret, defaultName: string): SecretContent {
  const { [NEXT_IDENTITY]: _identity, [NEXT_PUBLIC_KEY]: _publicKey, ...data } = dataOf(secret);
  return {
    name: copied.targetName ?? defaultName,
    namespace: copied.namespace,
    type: (secret.type as string | undefined) ?? 'Opaque',
    labels: copiedLabels(secret),
    data,
  };
}

function dataOf(secret: KubeObject): Record<string, string> {
  return (secret.data ?? {}) as Record<string, string>;
}

/** The annotation of the Go extension of stackitcloud on a referenced Secret whose labels its copy gets. */
const COPY_LABELS = 'gardener-extension-shoot-flux/copy-labels';

/** Returns the labels for the copy of a Secret that asks for them, without those of Gardener, which would steer it. */
export function copiedLabels({ metadata }: KubeObject): Record<string, string> | undefined {
  if (!isTrue(metadata.annotations?.[COPY_LABELS])) return undefined;
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !isReservedForGardener(key));
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

type Content = SecretContent | ConfigMapContent;

/** Returns a function that counts the copies of a Shoot, and throws a ConfigError at the one that exceeds the limit. */
export function countCopies(config: EffectiveConfig, project = ''): (content: Content) => void {
  let total = 0;
  let largest: { content: Content; bytes: number } | undefined;
  return (content) => {
    const bytes = bytesOf(content);
    total += bytes;
    if (largest === undefined || bytes > largest.bytes) largest = { content, bytes };
    if (total > limits.copies.most * 1024) throw tooMuch(config, project, largest.content, largest.bytes);
  };
}

function bytesOf(content: Content): number {
  const { data, labels, binaryData } = content as SecretContent & ConfigMapContent;
  const fields = [data, labels, binaryData].flatMap((values) => Object.entries(values ?? {}));
  return fields.reduce((sum, [key, value]) => sum + key.length + lengthInContent(value), 0);
}

/** Names the largest copy: a Secret of the project itself, or the configuration that asks for it. */
function tooMuch(
  { additionalSecrets, origins }: EffectiveConfig,
  project: string,
  { namespace, name }: Content,
  bytes: number,
): ConfigError {
  const [has, limit] = [`has ${Math.ceil(bytes / 1024).toLocaleString('en')} KiB`, limitText(limits.copies)];
  const isIt = (copy: CopiedSecret) => copy.targetName === name && copy.namespace === namespace;
  const { origin } = additionalSecrets.find(isIt) ?? {};
  if (origin?.type === 'project') {
    const message = `${has}, but all copies for the shoot may have at most ${limit} together; make it smaller`;
    return new ConfigError([{ object: `Secret ${project}/${origin.name}`, path: '', message }]);
  }
  // Credentials of a source are small, so what exceeds the limit beside them are additional objects.
  const part = additionalSecrets.some((copy) => copy.origin.type !== 'project')
    ? 'additionalSecrets'
    : 'source.spec.secretRef';
  const message = `copies more than ${limit} in all; ${namespace}/${name} alone ${has}. Copy fewer or smaller objects`;
  return new ConfigError([{ ...originOf(origins, part), message }]);
}
