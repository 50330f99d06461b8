import { protection } from '../../../shared/flux/install.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError } from '../../../shared/kube/errors.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import { type ControlPlane, readRecord } from '../read/control-plane.ts';
import { oldestDeletion, type Run, waitOn } from '../run.ts';
import { annotateAll, tryInShoot } from './act.ts';

const installed = [names.crds, names.controllers];

/** True while objects that we no longer manage still carry the protection; the user's Kustomizations skip them. */
function isLeftProtected(record: Applied | undefined): record is Applied {
  return record?.protected === true && installed.every((name) => record.managedResources[name] === undefined);
}

function protectedRefs(record: Applied): string[] {
  const { objects } = record;
  // A namespace that was there before us is in no content, and protected since its Flux was taken over.
  return [...new Set([namespaceRef(record), ...installed.flatMap((name) => objects[name] ?? [])])];
}

/** The refs of the objects that may still carry it, once nothing of Flux is managed any more. */
export function refsToUnprotect(record: Applied): string[] {
  return [...protectedRefs(record), claimRef(record)];
}

/** The ref of the claim of `storage`: without `storage` it stays in the shoot, and is no longer in the record. */
export function claimRef({ namespace }: Pick<Applied, 'namespace'>): string {
  return `PersistentVolumeClaim/${namespace}/source-controller`;
}

/** The ref of the namespace of Flux. */
export function namespaceRef({ namespace }: Pick<Applied, 'namespace'>): string {
  return `Namespace//${namespace}`;
}

/**
 * Removes the protection from objects that the resource-manager has released, so that the user's Kustomizations can
 * manage them. If the shoot does not answer, the record says that it is outstanding, and the next run tries again.
 */
export async function removeLeftProtection(run: Run, controlPlane: ControlPlane): Promise<ControlPlane> {
  const { previous, live } = controlPlane;
  if (installed.some((name) => live.has(name)) || !isLeftProtected(previous)) return controlPlane;
  const act = (shoot: KubeClient) => removeProtection(run, shoot, refsToUnprotect(previous));
  if ((await tryInShoot(run, 'protection not removed', act)) !== true) return controlPlane;
  const record = { ...previous, protected: undefined };
  try {
    await run.reporter.record({ applied: record });
  } catch (error) {
    if (error instanceof ConflictError) await restoreProtection(run);
    throw error;
  }
  return { ...controlPlane, previous: record };
}

/** The next run removes the protection from what this one has released, or did not reach in the shoot. */
export function unlessLeftProtected(run: Run, { previous, live }: ControlPlane, outcome: Outcome): Outcome {
  const { state, lastOperation } = run.reporter.current().status ?? {};
  if (outcome.type !== 'done' || !isLeftProtected(state?.applied)) return outcome;
  const unreachableSince = isLeftProtected(previous) ? lastOperation?.lastUpdateTime : undefined;
  return waitOn(run, oldestDeletion(live.values()) ?? unreachableSince, 2);
}

/** Protects the objects again after a run was overtaken by one that manages them again: nothing else would do it. */
async function restoreProtection(run: Run): Promise<void> {
  const record = await readRecord(run);
  if (record?.protected !== true || isLeftProtected(record)) return;
  await withShoot(run, (shoot) => annotateAll(run, shoot, protectedRefs(record), protection, NOT_CHANGED));
}

/** Removes the protection from objects in the shoot. @returns false when the time was up before */
export function removeProtection(run: Run, shoot: KubeClient, refs: string[]): Promise<boolean> {
  const none = Object.fromEntries(Object.keys(protection).map((key) => [key, null]));
  return annotateAll(run, shoot, refs, none, NOT_CHANGED);
}

const NOT_CHANGED = 'protection not changed';
