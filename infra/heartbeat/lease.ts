import type { KubeClient } from '../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';

/** The Lease that gardenlet reads in the extension's namespace of a seed (rule 5.4). */
export const HEARTBEAT = 'gardener-extension-heartbeat';

/** How often it is renewed. After five minutes without renewal gardenlet considers the extension gone (trap 37). */
export const BEAT_SECONDS = 30;

const options = { fieldManager: 'shoot-flux-heartbeat' };

/** Creates or renews the Lease of one seed. When two processes do so at once, one of them is enough. */
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

/** Returns RFC 3339 with microseconds, like metav1.MicroTime. */
function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
