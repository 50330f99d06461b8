import { RetryableError } from '../../../shared/errors.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName, unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import { objectRef } from '../../../shared/gardener/object-ref.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import type { Run } from '../run.ts';
import { release } from '../write.ts';
import { comesBack, isSuspended, type SyncSet, untilDropped, withLeaving } from './leaving.ts';

/** Adds what leaves the set. What that is tells the control plane, not the record: a record can get lost. */
export async function syncSet(
  run: Run,
  next: KubeObject[],
  live: ManagedResource | undefined,
  isFollowed: boolean,
): Promise<SyncSet> {
  const nothingLeaves = { objects: next, leaving: [] };
  if (!isFollowed || live === undefined || live.metadata.deletionTimestamp !== undefined) return nothingLeaves;
  const wasLeaving = run.extension.status?.state?.applied?.leaving ?? [];
  if (live.spec.secretRefs[0]?.name === contentSecretName(names.sync, next)) {
    return untilDropped(nothingLeaves, wasLeaving, isInShoot(live));
  }
  const former = await formerContent(run, live);
  if (!isInShoot(live) && comesBack(next, former, wasLeaving)) return { objects: former, leaving: wasLeaving };
  const confirmed = new Set(isInShoot(live) ? former.filter(isSuspended).map(objectRef) : []);
  return untilDropped(withLeaving(next, former, confirmed), wasLeaving, false);
}

/** True when this very content is in the shoot: applied, and not only ignored (trap 29). */
function isInShoot({ metadata, status }: ManagedResource): boolean {
  const applied = status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  return status?.observedGeneration === metadata.generation && applied?.status === 'True';
}

async function formerContent(run: Run, live: ManagedResource): Promise<KubeObject[]> {
  const name = live.spec.secretRefs[0]?.name ?? '';
  const secret = await run.seed.find(resources.secrets, { namespace: run.namespace, name });
  const content = secret && unpackContent((secret.data ?? {}) as Record<string, string>);
  if (content !== undefined) return content;
  // Without the former content nothing can be suspended, and dropping would prune: let go of everything instead.
  await release(run.seed, live);
  throw new RetryableError(
    `Secret ${run.namespace}/${name} of ManagedResource ${live.metadata.name} is gone, or not what was written; the ManagedResource is released and written anew.`,
  );
}
