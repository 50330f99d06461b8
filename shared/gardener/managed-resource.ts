import type { KubeClient } from '../kube/client.ts';
import { apiVersionOf, type KubeObject, resources } from '../kube/resource.ts';
import { isContentSecretName, isSecretReference, secretReference } from './managed-resource-content.ts';
import { managedResourceOf } from './read-objects.ts';
import { type Applied, type ManagedResource, ORIGIN, ORIGIN_LABEL } from './types.ts';

/** The four ManagedResources of a Shoot, in the order in which they are written. */
export const managedResourceNames = {
  crds: 'shoot-flux-crds',
  controllers: 'shoot-flux-controllers',
  secrets: 'shoot-flux-secrets',
  sync: 'shoot-flux-sync',
} as const;

/** The ManagedResources of the Go extension by 23technologies; they are released before ours are written. */
export const legacyNames = ['extension-shoot-flux-flux-install', 'extension-shoot-flux-flux-config'];

/** On an object of a ManagedResource: it stays when the ManagedResource is deleted. */
export const KEEP_OBJECT = 'resources.gardener.cloud/keep-object';
/** On such an object: it is created if it is missing, and never updated. */
export const ONLY_CREATE = 'resources.gardener.cloud/ignore';
/** On such an object: it is deleted and recreated when the API server rejects an update. */
export const DELETE_ON_INVALID_UPDATE = 'resources.gardener.cloud/delete-on-invalid-update';

/** The state of a ManagedResource's current generation. */
type ApplyState =
  | { state: 'applied' }
  | { state: 'pending' }
  /** The resource-manager keeps retrying: objects cannot be applied, or old ones cannot be deleted. */
  | { state: 'failing'; reason: string; message: string };

/**
 * Reads the state from the conditions. A stale True does not count: the observed generation must be the current one.
 * While it fails, the real resource-manager switches ResourcesApplied between False and Progressing at every attempt,
 * both with the reason `ApplyFailed`: that is one state, and `lastTransitionTime` does not show its age.
 */
export function applyState(resource: ManagedResource): ApplyState {
  const applied = resource.status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  // Trap 29: an ignored ManagedResource never advances observedGeneration; a user has taken it over.
  if (isTrue(resource.metadata.annotations?.['resources.gardener.cloud/ignore'])) return { state: 'applied' };
  if (applied === undefined) return { state: 'pending' };
  const { status, reason, message } = applied;
  if (status === 'False' || reason === 'ApplyFailed' || reason === 'DeletionPending') {
    return { state: 'failing', reason, message };
  }
  const isCurrentGeneration = resource.status?.observedGeneration === resource.metadata.generation;
  return isCurrentGeneration && status === 'True' ? { state: 'applied' } : { state: 'pending' };
}

/** Returns the manifest of a ManagedResource without a class, with one content Secret. */
export function managedResourceManifest(namespace: string, name: string, secretName: string): KubeObject {
  return {
    apiVersion: apiVersionOf(resources.managedResources),
    kind: resources.managedResources.kind,
    metadata: {
      namespace,
      name,
      labels: { [ORIGIN_LABEL]: ORIGIN },
      // Trap 27: without this reference Gardener's garbage collector takes the Secret.
      annotations: secretReference(secretName),
    },
    spec: { secretRefs: [{ name: secretName }], keepObjects: false },
  };
}

/** Returns the merge patch that turns this version of a live ManagedResource, and no other, into the manifest. */
export function managedResourcePatch(live: ManagedResource, secretName: string): Record<string, unknown> {
  const { namespace = '', name, resourceVersion, annotations = {} } = live.metadata;
  const { metadata, spec } = managedResourceManifest(namespace, name, secretName);
  // Former references would keep former Secrets from Gardener's garbage collector.
  const former = Object.keys(annotations).filter(isSecretReference);
  const gone = Object.fromEntries(former.map((key) => [key, null]));
  return {
    metadata: { resourceVersion, labels: metadata.labels, annotations: { ...gone, ...metadata.annotations } },
    spec: { ...(spec as object), ...(hasClass(live) && { class: null }) },
  };
}

/** Selects the ManagedResources and content Secrets of ours in a control plane. */
export const ourLabelSelector = `${ORIGIN_LABEL}=${ORIGIN}`;

/** Lists our ManagedResources of a control plane. */
export async function listManagedResources(seed: KubeClient, namespace: string): Promise<ManagedResource[]> {
  const options = { namespace, labelSelector: ourLabelSelector };
  const { items } = await seed.list(resources.managedResources, options);
  return items.map(managedResourceOf);
}

/** True for ours, also without the label that a user has removed; others may use our names. */
export function isOurManagedResource({ metadata, spec }: ManagedResource): boolean {
  if (metadata.labels?.[ORIGIN_LABEL] === ORIGIN) return true;
  return spec.secretRefs.length > 0 && spec.secretRefs.every(({ name }) => isContentSecretName(metadata.name, name));
}

/** True when the live object already matches `managedResourceManifest`. */
export function isCurrent(live: ManagedResource | undefined, secretName: string): boolean {
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
  const refs = live.spec.secretRefs;
  const reference = Object.entries(secretReference(secretName));
  return (
    refs.length === 1 &&
    refs[0]?.name === secretName &&
    live.spec.keepObjects !== true &&
    !hasClass(live) &&
    live.metadata.labels?.[ORIGIN_LABEL] === ORIGIN &&
    reference.every(([key, value]) => live.metadata.annotations?.[key] === value)
  );
}

/** True for one that another resource-manager serves than that of the shoot. */
function hasClass({ spec }: ManagedResource): boolean {
  return (spec.class ?? '') !== '';
}

/** True when everything that `managed-resources` recorded last is applied in exactly that form. */
export function allApplied(applied: Applied, live: ManagedResource[]): boolean {
  const byName = new Map(live.map((resource) => [resource.metadata.name, resource]));
  const wanted = Object.entries(applied.managedResources);
  return (
    wanted.length > 0 &&
    wanted.every(([name, secretName]) => {
      const resource = byName.get(name);
      return resource !== undefined && isCurrent(resource, secretName) && applyState(resource).state === 'applied';
    })
  );
}

/** Parses an annotation as Gardener does, with Go's notations of a boolean. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value);
}

/**
 * Returns the namespace that the resource-manager may not write into: before Gardener v1.147, or without the argument
 * that the webhook adds (rule 3).
 */
export function rejectedNamespace(resource: ManagedResource): string | undefined {
  const state = applyState(resource);
  return state.state === 'failing' ? unknownNamespace(state.message) : undefined;
}

/**
 * Returns the namespace in "unable to get: flux-system/x because of unknown namespace for the cache". A webhook of the
 * Shoot may use the same words.
 */
export function unknownNamespace(message: string): string | undefined {
  const found = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  return found === null || /denied (?:the )?request/.test(message.slice(0, found.index)) ? undefined : found[1];
}
