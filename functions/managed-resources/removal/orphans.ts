import { isOurs } from '../../../shared/gardener/gate.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { readManagedResources, readSecretNames } from '../read.ts';
import { release } from '../write.ts';

const LOOK_AGAIN_SECONDS = 30;

/**
 * Where there is no Extension any more, nothing of ours is left. A run that outlives its lease, or an Extension whose
 * finalizer somebody has taken away, leaves ManagedResources that would block the Shoot for ever (facts/gardener.md 8).
 * Flux stays in the shoot.
 */
export async function releaseOrphans(seed: KubeClient, namespace: string): Promise<Outcome> {
  const orphans = await readManagedResources(seed, namespace);
  const secretNames = await readSecretNames(seed, namespace);
  if (orphans.size + secretNames.size === 0) return done;
  // They may belong to one with another name (decision 3), and where none can be listed none is known to be gone.
  const { items } = await seed.list<Extension>(resources.extensions, { namespace });
  if (items.some(isOurs)) return done;
  for (const orphan of orphans.values()) await release(seed, orphan);
  if (orphans.size > 0) return requeueAfter(LOOK_AGAIN_SECONDS);
  for (const name of secretNames) await seed.delete(resources.secrets, { namespace, name });
  return done;
}
