import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { carriesOurMark } from '../shoot/mark.ts';
import { pruningCrds, suspendAll } from '../shoot/suspend.ts';
import { removeCrd } from './crds.ts';
import { isEmptyNamespace } from './namespace.ts';
import { isAnyAtWork } from './pods.ts';
import { type Target, targetsOf } from './targets.ts';

/** How far a removal has come. */
export interface Uninstalled {
  /** A sentence about what it waits for; absent: everything is gone. */
  awaited?: string;
  /** Refs of recorded objects that are not in the shoot any more. */
  gone: string[];
}

const SLOW = "The shoot's API server is slow; the next run removes the rest of Flux.";

/**
 * Removes Flux from a shoot, and nothing that it has deployed: suspends, then deletes the controllers, the objects that
 * they needed, the finalizers, the CRDs and the namespace. Each step makes the next one harmless (docs/flux-facts.md).
 * Every step reads the shoot first, so it can be repeated, also after a kill.
 * @param isTimeUp once true, no further step begins
 */
export async function uninstall(
  shoot: KubeClient,
  applied: Applied,
  now: Date,
  isTimeUp: () => boolean,
): Promise<Uninstalled> {
  const { deployments, others, crds } = targetsOf(applied);
  const pruning = crds.map(({ name }) => name).filter((name) => pruningCrds.includes(name));
  const areSuspended = await suspendAll(shoot, isTimeUp, pruning);
  if (!areSuspended) return { awaited: SLOW, gone: [] };
  const ended = await removeAll(shoot, deployments);
  // A running controller would prune, because a reconciliation may have begun before the suspension.
  const controllers = deployments.map(({ name }) => name);
  if (await isAnyAtWork(shoot, applied.namespace, controllers, now)) {
    return { awaited: 'Waiting for the Flux controllers to stop.', gone: [] };
  }
  // Before the CRDs, which a foreign finalizer can block: no binding to cluster-admin must stay behind.
  const gone = [...ended, ...(await removeAll(shoot, others, isTimeUp))];
  if (isTimeUp()) return { awaited: SLOW, gone };
  const areGone = await inParallel(crds, (crd) => removeCrd(shoot, crd, isTimeUp), isTimeUp);
  gone.push(...crds.filter((_, index) => areGone[index] === true).map(({ ref }) => ref));
  if (areGone.length < crds.length) return { awaited: SLOW, gone };
  if (areGone.includes(false)) return { awaited: 'Waiting for the CRDs of Flux to be deleted.', gone };
  if (applied.ownsNamespace && (await isEmptyNamespace(shoot, applied.namespace, isTimeUp))) {
    await removeNamespace(shoot, applied.namespace);
  }
  return { gone };
}

/** @returns the refs of objects that did not exist any more */
async function removeAll(shoot: KubeClient, targets: Target[], isTimeUp?: () => boolean): Promise<string[]> {
  const wereThere = await inParallel(targets, (target) => removeOne(shoot, target), isTimeUp);
  return targets.filter((_, index) => wereThere[index] === false).map(({ ref }) => ref);
}

/** Names that a user may well have taken for an object of their own, since ours was deleted or released. */
const copiedKinds = ['Secret', 'ConfigMap'];

/** @returns false when the object did not exist any more, or is another one under its name */
async function removeOne(shoot: KubeClient, { resource, ref: _, ...name }: Target): Promise<boolean> {
  if (!copiedKinds.includes(resource.kind)) return shoot.delete(resource, name, { propagationPolicy: 'Background' });
  const live = await shoot.find(resource, name, { metadataOnly: true });
  if (live === undefined || !carriesOurMark(live)) return false;
  const { uid } = live.metadata;
  return shoot.delete(resource, name, { ...(uid && { preconditions: { uid } }) });
}

/** Does not delete a namespace twice: some API servers answer that with a conflict. */
async function removeNamespace(shoot: KubeClient, name: string): Promise<void> {
  const namespace = await shoot.find(resources.namespaces, { name }, { metadataOnly: true });
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  await shoot.delete(resources.namespaces, { name });
}
