import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import {
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  type Resource,
  resource,
  resources,
} from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { fieldManager } from '../read/control-plane.ts';
import { everyObject, everyPage } from '../shoot/act.ts';
import {
  builtInKinds,
  carriesOurMark,
  isSuspended,
  parseRef,
  pruningKinds,
  servedKind,
  servedKinds,
} from '../shoot/objects.ts';
import { pruningCrds, suspendAll } from '../shoot/suspend.ts';

/** How far a removal has come. */
export interface Uninstalled {
  /** A sentence about what it waits for; absent: everything is gone. */
  awaited?: string;
  /** Refs of recorded objects that are not in the shoot any more. */
  gone: string[];
}

const SLOW = "The shoot's API server is slow; the next run removes the rest of Flux.";

/**
 * Removes Flux from a shoot, and nothing that it has deployed. Each step makes the next one harmless
 * (docs/flux-facts.md), and reads the shoot first, so that it can be repeated, also after a kill.
 */
export async function uninstall(
  shoot: KubeClient,
  applied: Applied,
  now: Date,
  isTimeUp: () => boolean,
): Promise<Uninstalled> {
  const { namespace, ownsNamespace } = applied;
  const { deployments, others, crds } = targetsOf(applied);

  // 1. Suspend Kustomizations and HelmReleases, also those of users: deleted now, they would delete what they have deployed.
  const pruning = crds.map(({ name }) => name).filter((name) => pruningCrds.includes(name));
  if (!(await suspendAll(shoot, isTimeUp, pruning))) return { awaited: SLOW, gone: [] };

  // 2. Delete the controllers, and wait until they stop: a reconciliation that began before the suspension would prune.
  const gone = await removeAll(shoot, deployments);
  const controllers = deployments.map(({ name }) => name);
  if (await isAnyAtWork(shoot, namespace, controllers, now)) {
    return { awaited: 'Waiting for the Flux controllers to stop.', gone: [] };
  }

  // 3. Delete what they needed. Before the CRDs, which a foreign finalizer can block: no binding to cluster-admin stays.
  gone.push(...(await removeAll(shoot, others, isTimeUp)));
  if (isTimeUp()) return { awaited: SLOW, gone };

  // 4. Remove Flux's finalizers from the objects of each CRD, and delete the CRD.
  const areGone = await inParallel(crds, (crd) => removeCrd(shoot, crd, isTimeUp), isTimeUp);
  gone.push(...crds.filter((_, index) => areGone[index] === true).map(({ ref }) => ref));
  if (areGone.length < crds.length) return { awaited: SLOW, gone };
  if (areGone.includes(false)) return { awaited: 'Waiting for the CRDs of Flux to be deleted.', gone };

  // 5. Delete the namespace, if it is ours and holds nothing of a user.
  const isEmpty = ownsNamespace && (await isEmptyNamespace(shoot, namespace, isTimeUp));
  if (isEmpty === undefined) return { awaited: SLOW, gone };
  if (isEmpty) await removeNamespace(shoot, namespace);
  return { gone };
}

/** Deletes objects. @returns the refs of those that did not exist any more */
async function removeAll(shoot: KubeClient, targets: Target[], isTimeUp?: () => boolean): Promise<string[]> {
  const wereThere = await inParallel(targets, (target) => removeOne(shoot, target), isTimeUp);
  return targets.filter((_, index) => wereThere[index] === false).map(({ ref }) => ref);
}

/** Names that a user may well have taken for an object of their own, since ours was deleted or released. */
const copiedKinds = ['Secret', 'ConfigMap'];

/** @returns false when the object did not exist any more, or is another one under its name */
async function removeOne(shoot: KubeClient, { resource, ref: _, ...name }: Target): Promise<boolean> {
  if (!copiedKinds.includes(resource.kind))
    return shoot.delete(resource, name, { reason: UNINSTALLED, propagationPolicy: 'Background' });
  const live = await shoot.find(resource, name, { metadataOnly: true });
  if (live === undefined || !carriesOurMark(live)) return false;
  const { uid } = live.metadata;
  return shoot.delete(resource, name, { reason: UNINSTALLED, ...(uid && { preconditions: { uid } }) });
}

/** Does not delete a namespace twice: some API servers answer that with a conflict. */
async function removeNamespace(shoot: KubeClient, name: string): Promise<void> {
  const namespace = await shoot.find(resources.namespaces, { name }, { metadataOnly: true });
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  await shoot.delete(resources.namespaces, { name }, { reason: UNINSTALLED });
}

/** Why an uninstallation deletes, for the log. */
const UNINSTALLED = 'deletionPolicy Uninstall removes Flux with the extension';

/** Removes Flux's finalizers from the objects of a CRD, then deletes it; true when it did not exist any more. */
async function removeCrd(
  shoot: KubeClient,
  { resource, name }: Pick<Target, 'resource' | 'name'>,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const crd = await shoot.find(resource, { name });
  if (crd === undefined) return true;
  const kind = servedKind(crd);
  const isFree = kind === undefined || (await freeObjects(shoot, kind, isTimeUp));
  if (isFree && crd.metadata.deletionTimestamp === undefined)
    await shoot.delete(resource, { name }, { reason: UNINSTALLED });
  return false;
}

/**
 * Removes Flux's finalizers from all objects of a kind.
 * @returns false when the next run has to recheck: the time was up, or an object had been resumed or created since
 */
async function freeObjects(shoot: KubeClient, kind: Resource, isTimeUp: () => boolean): Promise<boolean> {
  const mayPrune = pruningKinds.has(kind.kind);
  const isActive = (object: KubeObject) => mayPrune && !isSuspended(object);
  let wereSuspended = true;
  const strip = (object: KubeObject) => {
    if (isActive(object)) wereSuspended = false;
    return removeFluxFinalizers(shoot, kind, object, mayPrune ? { spec: { suspend: true } } : {});
  };
  const isHeld = (object: KubeObject) => isActive(object) || hasFluxFinalizer(object);
  const isDone = await everyObject(shoot, kind, { metadataOnly: !mayPrune, isTimeUp }, isHeld, strip);
  return isDone && wereSuspended;
}

/** Neither Succeeded nor Failed: an evicted Pod does nothing any more. */
const alive = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * After this time, a controller that was asked to stop begins nothing new. helm-controller continues for up to ten
 * minutes with what it has begun, and on a lost node a Pod never ends.
 */
const LAST_WORK_SECONDS = 75;

/** More Pods than these are certainly none of Flux's alone. */
const MOST_PODS = 500;

/** True while a Pod of these Deployments may still begin a reconciliation. */
async function isAnyAtWork(shoot: KubeClient, namespace: string, names: string[], now: Date): Promise<boolean> {
  if (names.length === 0) return false;
  const labelSelector = `app in (${names.join(',')})`;
  const options = { namespace, labelSelector, fieldSelector: alive, metadataOnly: true, limit: MOST_PODS };
  const { items, continue: more } = await shoot.list(resources.pods, options);
  return more !== undefined || items.some(({ metadata }) => isAtWork(metadata, now));
}

/** `deletionTimestamp` is the end of the grace period, which began when the Pod was asked to stop. */
export function isAtWork({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: Date): boolean {
  if (deletionTimestamp === undefined) return true;
  const stopped = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return now.getTime() < stopped + LAST_WORK_SECONDS * 1000;
}

/** Kubernetes' own kinds whose objects may belong to a user. */
const kinds: Resource[] = [
  ...[resources.deployments, resources.pods, resources.secrets, resources.configMaps],
  ...[resources.services, resources.persistentVolumeClaims],
  resource('apps', 'v1', 'statefulsets', 'StatefulSet'),
  resource('apps', 'v1', 'daemonsets', 'DaemonSet'),
  resource('batch', 'v1', 'jobs', 'Job'),
  resource('batch', 'v1', 'cronjobs', 'CronJob'),
];

/** Where more objects of a kind are left, some are a user's. */
const MOST_OBJECTS = 500;

/** Kubernetes creates this ConfigMap in every namespace. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * True when a namespace holds nothing that a user may need: no workload or custom resource that Flux has deployed there,
 * no record of a Helm release, no key of a user. A kind that cannot be listed counts as present.
 * @returns undefined when the time was up before all kinds were listed, and those that were listed had no objects
 */
async function isEmptyNamespace(
  shoot: KubeClient,
  namespace: string,
  isTimeUp: () => boolean,
): Promise<boolean | undefined> {
  const custom = await customKinds(shoot, isTimeUp);
  if (custom === undefined) return undefined;
  const all = [...kinds, ...custom];
  const empty = await inParallel(all, (kind) => hasNone(shoot, kind, namespace, custom.includes(kind)), isTimeUp);
  if (empty.includes(false)) return false;
  return empty.length < all.length ? undefined : true;
}

/** Returns the kinds besides Kubernetes' own and Flux's; undefined when the time was up before all were known. */
async function customKinds(shoot: KubeClient, isTimeUp: () => boolean): Promise<Resource[] | undefined> {
  const found: Resource[] = [];
  const areRead = await everyPage(shoot, resources.customResourceDefinitions, { isTimeUp }, async (crds) => {
    const served = crds.flatMap((crd) => servedKind(crd) ?? []);
    found.push(...served.filter(({ namespaced, group }) => namespaced && !group.endsWith('.fluxcd.io')));
    return true;
  });
  return areRead ? found : undefined;
}

/** A kind may be unavailable, for example because its conversion webhook is down; then its objects count as present. */
async function hasNone(shoot: KubeClient, kind: Resource, namespace: string, isCustom: boolean): Promise<boolean> {
  // A custom object with an owner, as network plugins create one for each Pod, is deleted with its owner.
  const isUsers = ({ metadata: { name, deletionTimestamp, ownerReferences } }: KubeObject) =>
    deletionTimestamp === undefined &&
    !(kind === resources.configMaps && name === ROOT_CA) &&
    !(isCustom && ownerReferences !== undefined);
  try {
    const page = await unlessGone(shoot.list(kind, { namespace, metadataOnly: true, limit: MOST_OBJECTS }));
    return page?.continue === undefined && page?.items.some(isUsers) !== true;
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}

interface Target extends ObjectName {
  resource: Resource;
  /** Its name in the record. */
  ref: string;
}

/**
 * Sorts the recorded objects by how they are deleted, without Namespaces, and without objects of Flux's own kinds, which
 * are deleted with their CRDs. The record alone counts: the ManagedResources may be gone already.
 */
export function targetsOf({ objects }: Pick<Applied, 'objects'>) {
  const recorded = Object.values(objects).flat();
  const targets = recorded.flatMap((ref): Target[] => {
    const { type, name } = parseRef(ref);
    const resource = builtInKinds[type];
    return type === 'Namespace' || resource === undefined ? [] : [{ resource, ref, ...name }];
  });
  const ofKind = (kind: string) => targets.filter(({ resource }) => resource.kind === kind);
  const [deployments, crds] = [ofKind('Deployment'), ofKind('CustomResourceDefinition')];
  return { deployments, crds, others: targets.filter((target) => ![...deployments, ...crds].includes(target)) };
}

const isOfFlux = (finalizer: string) =>
  ['finalizers.fluxcd.io', 'source.extensions.fluxcd.io/finalizer'].includes(finalizer);

/** True while an object has a finalizer of Flux. */
export function hasFluxFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.some(isOfFlux) === true;
}

/** Removes Flux's finalizers from an object that no controller serves any more; `change` joins the same write. */
async function removeFluxFinalizers(
  shoot: KubeClient,
  kind: Resource,
  { metadata }: KubeObject,
  change: Record<string, unknown> = {},
): Promise<void> {
  const finalizers = metadata.finalizers?.filter((finalizer) => !isOfFlux(finalizer));
  const patch = { ...change, metadata: { finalizers, resourceVersion: metadata.resourceVersion } };
  await unlessGone(shoot.mergePatch(kind, metadata, patch, { fieldManager }));
}

/**
 * Frees the objects of the Flux CRDs that gardenlet deletes: no controller runs in a hibernated Shoot, and gardenlet
 * itself removes finalizers only after an hour (rule 8).
 * @returns true when no CRD of Flux is left
 */
export async function finalizeDeleted(shoot: KubeClient, isTimeUp: () => boolean): Promise<boolean> {
  let crds = 0;
  const deleted: string[] = [];
  const options = { metadataOnly: true, isTimeUp };
  // In pages: the annotations of the CRDs alone may be larger than one answer.
  const areRead = await everyPage(shoot, resources.customResourceDefinitions, options, async (items) => {
    const ofFlux = items.filter(({ metadata }) => metadata.name.endsWith('.fluxcd.io'));
    crds += ofFlux.length;
    deleted.push(...ofFlux.flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp ? [name] : [])));
    return true;
  });
  const isHeld = (object: KubeObject) => object.metadata.deletionTimestamp !== undefined && hasFluxFinalizer(object);
  for (const kind of await servedKinds(shoot, deleted)) {
    await everyObject(shoot, kind, options, isHeld, (object) => removeFluxFinalizers(shoot, kind, object));
  }
  return areRead && crds === 0;
}
