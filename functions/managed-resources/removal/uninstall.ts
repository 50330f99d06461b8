import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended, pruners } from '../desired/leaving.ts';
import { servedKind } from '../kinds.ts';
import { pages } from '../pages.ts';
import { servedKinds } from '../served.ts';
import { isHeld, stripFinalizers } from './finalizers.ts';
import { isVacant } from './namespace.ts';
import { anyAtWork } from './pods.ts';
import { pruningCrds, suspendAll } from './suspend.ts';
import { type Target, targetsOf } from './targets.ts';

/** How far a removal has come. */
export interface Uninstalled {
  /** What it waits for, for a person; absent: all of it is gone. */
  awaited?: string;
  /** What of the record is not in the shoot any more. */
  gone: string[];
}

const SLOW = "The shoot's API server takes its time; the rest of Flux is removed in the next run.";

/**
 * Removes Flux from a shoot, and nothing that it has deployed: suspend, controllers, what they needed, finalizers, CRDs,
 * the namespace (the order of facts/flux.md 4.3 to 4.6, where each step makes the next one harmless). Every step looks
 * at what is there, so it may be repeated, also after a kill.
 * @param isTimeUp once it says so no other step is begun
 */
export async function uninstall(
  shoot: KubeClient,
  applied: Applied,
  now: Date,
  isTimeUp: () => boolean,
): Promise<Uninstalled> {
  const { deployments, others, crds } = targetsOf(applied);
  const pruning = crds.map(({ name }) => name).filter((name) => pruningCrds.includes(name));
  if (!(await suspendAll(shoot, await servedKinds(shoot, pruning), isTimeUp))) return { awaited: SLOW, gone: [] };
  const ended = await removeAll(shoot, deployments);
  // A controller that still runs would prune, and one reconciliation may be under way despite the suspension.
  const controllers = deployments.map(({ name }) => name);
  if (await anyAtWork(shoot, applied.namespace, controllers, now)) {
    return { awaited: "Waiting for Flux's controllers to end.", gone: [] };
  }
  // Nobody needs these any more; a foreign finalizer on an object of Flux must not leave an administrator behind.
  const gone = [...ended, ...(await removeAll(shoot, others, isTimeUp))];
  if (isTimeUp()) return { awaited: SLOW, gone };
  const areGone = await inParallel(crds, (crd) => removeCrd(shoot, crd, isTimeUp), isTimeUp);
  gone.push(...crds.filter((_, index) => areGone[index] === true).map(({ ref }) => ref));
  if (areGone.length < crds.length) return { awaited: SLOW, gone };
  if (areGone.includes(false)) return { awaited: 'Waiting for the CustomResourceDefinitions of Flux to go.', gone };
  if (applied.ownsNamespace && (await isVacant(shoot, applied.namespace, isTimeUp))) {
    await removeNamespace(shoot, applied.namespace);
  }
  return { gone };
}

/** @returns refs of those that were not there any more */
async function removeAll(shoot: KubeClient, targets: Target[], isTimeUp?: () => boolean): Promise<string[]> {
  const wereThere = await inParallel(
    targets,
    ({ resource, ref: _, ...name }) => shoot.delete(resource, name, { propagationPolicy: 'Background' }),
    isTimeUp,
  );
  return targets.filter((_, index) => wereThere[index] === false).map(({ ref }) => ref);
}

/** One that goes already is not asked to go again: some API servers answer that with a conflict. */
async function removeNamespace(shoot: KubeClient, name: string): Promise<void> {
  const namespace = await shoot.find(resources.namespaces, { name }, { metadataOnly: true });
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  await shoot.delete(resources.namespaces, { name });
}

/** Its objects lose Flux's finalizers first; true when it was not there any more. */
async function removeCrd(shoot: KubeClient, { resource, name }: Target, isTimeUp: () => boolean): Promise<boolean> {
  const crd = await shoot.find(resource, { name });
  if (crd === undefined) return true;
  const kind = servedKind(crd);
  const isLetGo = kind === undefined || (await letGo(shoot, kind, isTimeUp));
  if (isLetGo && crd.metadata.deletionTimestamp === undefined) await shoot.delete(resource, { name });
  return false;
}

/**
 * Takes Flux's finalizers from all objects of a kind.
 * @returns false when the next run has to look again: the time was up, or one would have pruned, because a
 * reconciliation that was under way has taken its suspension back, or a user has just made it
 */
async function letGo(shoot: KubeClient, kind: Resource, isTimeUp: () => boolean): Promise<boolean> {
  const mayPrune = pruners.has(kind.kind);
  const isActive = (object: KubeObject) => mayPrune && !isSuspended(object);
  let wereSuspended = true;
  for await (const items of pages(shoot, kind, { metadataOnly: !mayPrune })) {
    const held = items.filter((object) => isActive(object) || isHeld(object));
    if (held.some(isActive)) wereSuspended = false;
    const release = (object: KubeObject) =>
      stripFinalizers(shoot, kind, object, mayPrune ? { spec: { suspend: true } } : {});
    const released = await inParallel(held, release, isTimeUp);
    if (released.length < held.length) return false;
  }
  return wereSuspended;
}
