import { isOurs } from '../../../shared/gardener/gate.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { growingPause, secondsSince } from '../../../shared/runtime/growing-pause.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { readManagedResources, readSecretNames } from '../read/control-plane.ts';
import { release } from '../release.ts';
import { oldestDeletion } from '../run.ts';

const RECHECK_SECONDS = 30;

/**
 * Releases our ManagedResources in a control plane without an Extension; Flux stays in the shoot. A run that outlives
 * its lease, or a user who removes our finalizer, leaves them behind, and they would block the Shoot for ever (rule 8).
 */
export async function releaseLeftovers(seed: KubeClient, namespace: string, now: Date): Promise<Outcome> {
  const leftovers = await readManagedResources(seed, namespace, []);
  const secretNames = await readSecretNames(seed, namespace);
  if (leftovers.size + secretNames.size === 0) return done;
  // They may belong to an Extension with another name (decision 3). If listing fails, none is known to be gone.
  const { items } = await seed.list<Extension>(resources.extensions, { namespace });
  if (items.some(isOurs)) return done;
  // Also those that have lost their label; they are only looked for where something else of ours is left.
  const all = await readManagedResources(seed, namespace, Object.values(managedResourceNames));
  for (const leftover of all.values())
    await release(seed, leftover, 'the control plane has no Extension of shoot-flux');
  if (all.size > 0) return requeueAfter(growingPause(secondsSince(oldestDeletion(all.values()), now), RECHECK_SECONDS));
  const reason = 'the control plane has no Extension of shoot-flux';
  for (const name of secretNames) await seed.delete(resources.secrets, { namespace, name }, { reason });
  return done;
}
