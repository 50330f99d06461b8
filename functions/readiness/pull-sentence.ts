import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import { FLUX_REGISTRY, PULL_SECRET } from '../../shared/gardener/project-config.ts';
import type { Applied, ImagePlaces } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import type { PullReport } from './controllers.ts';
import { type PullFailure, type PullProblem, pullFailureOf } from './pulls.ts';

type Place = NonNullable<ImagePlaces[keyof ImagePlaces]>;

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
): PullReport | undefined {
  const failure = pullFailureOf(pods);
  if (failure === undefined) return undefined;
  return {
    image: safeText(failure.image),
    sentence: pullSentence(applied, failure, missingSecrets),
    quoted: safeText(failure.message),
    hasCause: failure.problem !== 'unknown',
    needsUser: ofUsers.has(failure.problem) || missingSecrets.length > 0,
  };
}

/**
 * Returns what is wrong with an image and where to correct it, without the words of the kubelet.
 * @param missingSecrets the Secrets for pulling that its Pod names and the shoot does not have
 */
function pullSentence(applied: Applied, failure: PullFailure, missingSecrets: readonly string[]): string {
  const text = explained(applied, failure, missingSecrets);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function explained(applied: Applied, failure: PullFailure, missingSecrets: readonly string[]): string {
  const image = `image "${safeText(failure.image)}"`;
  const places = placesOf(applied);
  const [missing] = missingSecrets;
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
