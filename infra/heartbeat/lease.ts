import type { KubeClient } from '../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';

/** The Lease that gardenlet looks for in the extension's own namespace of a seed (facts/gardener.md 5.4). */
export const HEARTBEAT = 'gardener-extension-heartbeat';

/** How often it is renewed; gardenlet takes five minutes without for an extension that is gone (trap 37). */
export const BEAT_SECONDS = 30;

const options = { fieldManager: 'shoot-flux-heartbeat' };

/** Renews the Lease of one seed, or makes it. Of two processes that do so at once one is enough. */
export async function beat(seed: KubeClient, namespace: string, now: Date): Promise<void> {
  const { leases } = resources;
  const name = { namespace, name: HEARTBEAT };
  const spec = { holderIdentity: 'shoot-flux', leaseDurationSeconds: BEAT_SECONDS, renewTime: microTime(now) };
  const live = await seed.find(leases, name);
  try {
    if (live === undefined) {
      await seed.create(leases, { apiVersion: apiVersionOf(leases), kind: leases.kind, metadata: name, spec }, options);
    } else {
      const { resourceVersion } = live.metadata;
      await seed.mergePatch(leases, name, { metadata: { resourceVersion }, spec }, options);
    }
  } catch (error) {
    if (!(error instanceof AlreadyExistsError) && !(error instanceof ConflictError)) throw error;
  }
}

/** RFC 3339 with microseconds, as metav1.MicroTime. */
function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
