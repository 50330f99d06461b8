import { secretUses } from '../../shared/config/listed/secret-uses.ts';
import type { Place } from '../../shared/config/origins.ts';
import { FLUX_REGISTRY, PULL_SECRET, projectSecretBehind } from '../../shared/config/project-config.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AnswerTooLargeError, unless } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { beginOf, safeText } from '../../shared/runtime/safe-text.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/shapes.ts';
import type { PodReport } from './controllers.ts';

/** More Pods than these are none of Flux's alone. */
const MOST_PODS = 50;
const MOST_SECRETS = 3;
const MOST_REFERENCES = 10;
/** The owner of a shoot may write any text into a Pod. */
const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

/** Reads the Pods of controllers that do not become available, and which of the objects that they need are missing. */
export async function observePods(
  shoot: KubeClient,
  applied: Applied,
  controllers: readonly string[],
): Promise<PodReport | undefined> {
  const { namespace } = applied;
  const labelSelector = `app in (${controllers.join(',')})`;
  const pods = shoot.list(resources.pods, { namespace, labelSelector, limit: MOST_PODS });
  const found = (await unless(pods, AnswerTooLargeError))?.items ?? [];
  const failure = pullFailureOf(found);
  const pullSecrets = [...new Set(failure?.pullSecrets)].map((name) => ({ kind: 'Secret' as const, name }));
  const isMissing = async ({ kind, name }: Reference) => {
    const resource = kind === 'Secret' ? resources.secrets : resources.configMaps;
    return NAME.test(name) && (await shoot.find(resource, { namespace, name }, { metadataOnly: true })) === undefined;
  };
  const missing: Reference[] = [];
  const needed =
    failure === undefined ? neededReferences(found).slice(0, MOST_REFERENCES) : pullSecrets.slice(0, MOST_SECRETS);
  for (const reference of needed) if (await isMissing(reference)) missing.push(reference);
  const names = missing.map(({ name }) => name);
  return failure === undefined ? referenceReport(applied, found, missing) : pullReport(applied, found, names);
}

/** What a user has to correct; the other problems may end without that. */
const ofUsers: ReadonlySet<PullProblem> = new Set(['certificate', 'credentials', 'missing', 'name']);

/**
 * Returns what Pods say about an image that cannot be pulled; undefined when none waits for one.
 * @param missingSecrets the Secrets for pulling that they name and the shoot does not have
 */
export function pullReport(
  applied: Applied,
  pods: readonly KubeObject[],
  missingSecrets: readonly string[],
): PodReport | undefined {
  const failure = pullFailureOf(pods);
  if (failure === undefined) return undefined;
  const text = explained(applied, failure, missingSecrets);
  return {
    reason: 'ImageNotPulled',
    subject: safeText(failure.image),
    sentence: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    quoted: safeText(failure.message),
    hasCause: failure.problem !== 'unknown',
    needsUser: ofUsers.has(failure.problem) || missingSecrets.length > 0,
  };
}

/**
 * Returns what is wrong with an image and where to correct it, without the words of the kubelet.
 * @param missing the Secrets for pulling that its Pod names and the shoot does not have; the first one is named
 */
function explained(applied: Applied, failure: PullFailure, [missing]: readonly string[]): string {
  const image = `image "${safeText(failure.image)}"`;
  const places = placesOf(applied);
  if (missing !== undefined && failure.problem !== 'name') {
    return `${image} cannot be pulled without ${secretName(missing, applied)}, which the shoot does not have; ${deliver(missing, places)}`;
  }
  switch (failure.problem) {
    case 'credentials':
      return `the registry denies access to ${image}; ${credentials(failure, applied, places)}`;
    case 'missing':
      return `the registry has no ${image}; copy it there, or correct ${places.registry}`;
    case 'name':
      return `${image} is no valid name of an image; correct ${places.registry}`;
    case 'certificate':
      return `the nodes do not trust the registry of ${image}; give its certificate to the nodes, or correct ${places.registry}`;
    case 'rateLimit':
      return `the registry limits how often ${image} is pulled; use credentials (${places.pullSecret}), or a mirror (${places.registry})`;
    case 'unreachable':
      return `the nodes do not reach the registry of ${image}; allow them to (firewall, proxy), or correct ${places.registry}`;
    default:
      return `${image} cannot be pulled; check ${places.registry} and ${places.pullSecret}`;
  }
}

/** Where registry and pull secret are configured, or could be. */
function placesOf({ imagePlaces = {}, managedResources }: Applied): { registry: string; pullSecret: string } {
  if (managedResources[managedResourceNames.controllers] === undefined) {
    // The sync mode has released the installation.
    return { registry: 'the image of the Deployment in the shoot', pullSecret: 'its imagePullSecrets' };
  }
  const registry = imagePlaces.registry ? placeText(imagePlaces.registry) : 'registry in the configuration';
  const patches =
    imagePlaces.patches === undefined ? '' : `, or the patch of the image in ${placeText(imagePlaces.patches)}`;
  return {
    registry: `${registry}${patches}`,
    pullSecret: imagePlaces.imagePullSecret
      ? placeText(imagePlaces.imagePullSecret)
      : 'imagePullSecret in the configuration',
  };
}

/** `flux.registry of the providerConfig`, `registry in ConfigMap garden-foo/flux-config`. */
function placeText({ object, path }: Place): string {
  return object === 'providerConfig' ? `${path} of the providerConfig` : `${path} in ${object}`;
}

function secretName(name: string, { namespace }: Applied): string {
  return `Secret ${namespace}/${safeText(name)}`;
}

function deliver(name: string, places: { pullSecret: string }): string {
  if (name === FLUX_REGISTRY) return `create Secret ${FLUX_REGISTRY} in the project again`;
  if (name === PULL_SECRET) return "ask the operators for the landscape's pull secret";
  return `copy it with additionalSecretResources, create it there, or correct ${places.pullSecret}`;
}

function credentials(
  { pullSecrets }: PullFailure,
  applied: Applied,
  places: { registry: string; pullSecret: string },
): string {
  const [name] = pullSecrets;
  if (name === undefined) {
    return `name a pull secret (${places.pullSecret}), create Secret ${FLUX_REGISTRY} in the project, or correct ${places.registry}`;
  }
  const original =
    name === FLUX_REGISTRY
      ? `Secret ${FLUX_REGISTRY} in the project`
      : name === PULL_SECRET
        ? "the landscape's pull secret"
        : `the original of ${secretName(name, applied)}`;
  return `correct the credentials in ${original}, or correct ${places.registry}`;
}

/** Why an image cannot be pulled, as far as the message of the kubelet says. */
type PullProblem = 'certificate' | 'rateLimit' | 'credentials' | 'missing' | 'unreachable' | 'name' | 'unknown';

/** A container of Flux whose image cannot be pulled. */
interface PullFailure {
  image: string;
  problem: PullProblem;
  /** What the kubelet says; its length is limited. */
  message: string;
  /** The Secrets that its Pod names for pulling. */
  pullSecrets: string[];
}

/** What the kubelet gives as the reason of a container that waits for its image. */
const WAITS_FOR_IMAGE: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/**
 * Messages of container runtimes; the first match counts. A registry that limits requests or whose certificate is not
 * trusted may also be called forbidden or not found.
 */
const problems: [PullProblem, RegExp][] = [
  ['certificate', /x509:|certificate (?:signed by|is not|has expired)|server gave HTTP response to HTTPS client/],
  ['rateLimit', /toomanyrequests|too many requests|\b429\b|rate limit/i],
  ['credentials', /\b40[13]\b|unauthorized|authorization failed|denied|forbidden|no basic auth|insufficient_scope/i],
  ['missing', /not found|(?:manifest|name) unknown|\b404\b|does not exist/i],
  [
    'unreachable',
    /no such host|connection (?:refused|reset)|i\/o timeout|no route to host|TLS handshake timeout|deadline exceeded|dial tcp|\bEOF\b/,
  ],
];

/** Returns the failure that says most about its cause; undefined when no Pod waits for an image. */
function pullFailureOf(pods: readonly KubeObject[]): PullFailure | undefined {
  const failures = pods.flatMap(failuresOf);
  return failures.find(({ problem }) => problem !== 'unknown') ?? failures[0];
}

function failuresOf(pod: KubeObject): PullFailure[] {
  const pullSecrets = entriesAt(pod.spec, 'imagePullSecrets').flatMap((secret) => textAt(secret, 'name') ?? []);
  return containersOf(pod).flatMap(({ container, state }) => {
    const reason = textAt(state, 'reason') ?? '';
    if (!WAITS_FOR_IMAGE.has(reason)) return [];
    const image = textAt(container, 'image') ?? '';
    const message = beginOf(textAt(state, 'message') ?? '');
    return [{ image, problem: problemOf(reason, message, image), message, pullSecrets }];
  });
}

/** Returns the containers of a Pod, each with what it waits for. */
function containersOf({ status }: KubeObject) {
  const statuses = [...entriesAt(status, 'initContainerStatuses'), ...entriesAt(status, 'containerStatuses')];
  return statuses.map((container) => ({ container, state: fieldsAt(container, 'state', 'waiting') ?? {} }));
}

function problemOf(reason: string, message: string, image: string): PullProblem {
  if (reason === 'InvalidImageName') return 'name';
  // The name of an image may have any of these words.
  const words = image === '' ? message : message.replaceAll(image, '');
  return problems.find(([, pattern]) => pattern.test(words))?.[0] ?? 'unknown';
}

/** A Secret or ConfigMap that a Pod cannot start without. */
export interface Reference {
  kind: 'Secret' | 'ConfigMap';
  name: string;
}

/** Kubernetes itself writes it into every namespace. */
const ROOT_CA = 'kube-root-ca.crt';

/** The same Pod may wait for both: the first container for its volumes, another one for its variables. */
const WAITS_FOR_REFERENCES: unknown[] = ['ContainerCreating', 'CreateContainerConfigError', 'PodInitializing'];

/**
 * Returns what Pods that wait for their containers cannot start without: what volumes and variables name. Only Events have
 * the kubelet's words about volumes (`MountVolume.SetUp failed`), so it is looked for.
 */
export function neededReferences(pods: readonly KubeObject[]): Reference[] {
  const found = pods
    .filter((pod) => containersOf(pod).some(({ state }) => WAITS_FOR_REFERENCES.includes(state.reason)))
    .flatMap(({ metadata, spec }) => secretUses({ apiVersion: 'v1', kind: 'Pod', metadata, spec }))
    .filter(
      ({ name, path, isOptional }) => !isOptional && name !== ROOT_CA && !path.startsWith('spec.imagePullSecrets'),
    )
    .map(({ kind, name }) => ({ kind, name }));
  return [...new Map(found.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

/** A variable names a key that is not there; of a volume, only Events say so. */
const LACKS_KEY = /couldn't find key (\S+) in (Secret|ConfigMap) \S+\/(\S+)/;

/**
 * Returns what Pods lack to start; undefined when they lack nothing that is known.
 * @param missing what they need and the shoot does not have; the first is named
 */
export function referenceReport(
  applied: Applied,
  pods: readonly KubeObject[],
  [missing]: readonly Reference[],
): PodReport | undefined {
  const messages = pods.flatMap(containersOf).map(({ state }) => beginOf(textAt(state, 'message') ?? ''));
  const nameOf = (kind: string, name: string) => `${kind} ${applied.namespace}/${safeText(name)}`;
  const known = { reason: 'ReferenceMissing', subject: '', hasCause: true, needsUser: true } as const;
  if (missing !== undefined) {
    const { kind, name } = missing;
    const sentence = `Pods of Flux do not start without ${nameOf(kind, name)}, which the shoot does not have; ${remedyFor(missing, applied)}.`;
    const quoted = messages.find((message) => message.includes(`"${name}" not found`)) ?? '';
    return { ...known, sentence, quoted: safeText(quoted) };
  }
  const quoted = messages.find((message) => LACKS_KEY.test(message)) ?? '';
  const [, key, kind = '', name = ''] = LACKS_KEY.exec(quoted) ?? [];
  if (key === undefined) return undefined;
  const sentence = `Pods of Flux do not start, because ${nameOf(kind, name)} has no key ${safeText(key)}; add it to the original of the ${kind}, or correct ${writerOf(applied)}.`;
  return { ...known, sentence, quoted: safeText(quoted) };
}

function remedyFor({ kind, name }: Reference, applied: Applied): string {
  const ofProject = kind === 'Secret' ? projectSecretBehind(name) : undefined;
  if (ofProject !== undefined) return `create Secret ${ofProject} in the project again`;
  return `copy it with additionalSecretResources, create it there, or correct ${writerOf(applied)}`;
}

/** Nothing but patches makes Pods name what they do not start without. */
function writerOf({ managedResources }: Applied): string {
  const isManaged = managedResources[managedResourceNames.controllers] !== undefined;
  return isManaged ? 'the entry of flux.patches that names it' : 'the Deployment in the shoot';
}
