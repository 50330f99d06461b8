import { applyState, isCurrent, managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { unpackContent } from '../../shared/gardener/managed-resource-content.ts';
import { objectRef } from '../../shared/gardener/object-ref.ts';
import type { Applied, ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { RetryableError } from '../../shared/runtime/errors.ts';
import { type SyncSet, withLeaving } from './leaving.ts';
import type { Run } from './run.ts';
import { release } from './write.ts';

/** Adds what leaves the set; the former content is read only when something does. */
export async function syncSet(
  run: Run,
  next: KubeObject[],
  previous: Applied | undefined,
  live: ManagedResource | undefined,
  isFollowed: boolean,
): Promise<SyncSet> {
  const wanted = new Set(next.map(objectRef));
  const left = previous?.objects[names.sync]?.some((ref) => !wanted.has(ref)) ?? false;
  if (!isFollowed || !left || live === undefined || live.metadata.deletionTimestamp !== undefined) {
    return { objects: next, leaving: [] };
  }
  return withLeaving(next, await formerContent(run, live), confirmedLeaving(previous, live));
}

/** What is on its way out and known to be suspended in the shoot: the content that says so is applied. */
function confirmedLeaving(previous: Applied | undefined, live: ManagedResource): ReadonlySet<string> {
  const secretName = previous?.managedResources[names.sync];
  const confirmed = secretName !== undefined && isCurrent(live, secretName) && applyState(live).state === 'applied';
  return new Set(confirmed ? (previous?.leaving ?? []) : []);
}

async function formerContent(run: Run, live: ManagedResource): Promise<KubeObject[]> {
  const name = live.spec.secretRefs[0]?.name ?? '';
  const secret = await run.seed.find(resources.secrets, { namespace: run.namespace, name });
  if (secret !== undefined) return unpackContent(secret.data as Record<string, string>);
  // Without the former content nothing can be suspended, and dropping would prune: let go of everything instead.
  await release(run.seed, live);
  throw new RetryableError(
    `Secret ${run.namespace}/${name} of ManagedResource ${live.metadata.name} is gone; the ManagedResource is released and written anew.`,
  );
}
