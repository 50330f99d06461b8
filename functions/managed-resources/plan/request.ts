import { createHash } from 'node:crypto';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** What sources and Kustomizations in the shoot are asked to take up: rotated Secrets, and requests of users. */
export type Requests = Pick<Applied, 'copiesHash' | 'reconcileAt'>;

/** What to record about requests before a delivery, and after it. */
export interface RequestPlan {
  before: Requests;
  after: Requests;
  /** True: source and Kustomizations are asked once everything is applied. */
  isDue: boolean;
}

/**
 * Decides whether Flux in the shoot has to be asked. Without a record nothing is due: new objects take everything up
 * themselves.
 */
export function planRequest(
  copies: KubeObject[],
  reconcileAt: string | undefined,
  previous: Applied | undefined,
): RequestPlan {
  const copiesHash = hashOf(copies);
  // A request that is withdrawn stays recorded: the same one, put back, has been carried out.
  const after = withoutUndefined({ copiesHash, reconcileAt: reconcileAt ?? previous?.reconcileAt });
  if (previous === undefined) return { before: after, after, isDue: false };
  const before = withoutUndefined({ copiesHash: previous.copiesHash, reconcileAt: previous.reconcileAt });
  const isDue = before.copiesHash !== after.copiesHash || before.reconcileAt !== after.reconcileAt;
  return { before, after, isDue };
}

/** Only the content of Secrets: Flux reads ConfigMaps with each attempt, and labels of the copies are ours. */
function hashOf(copies: KubeObject[]): string {
  const hash = createHash('sha256');
  for (const { kind, metadata, data } of copies) {
    if (kind === 'Secret') hash.update(JSON.stringify([metadata.namespace, metadata.name, data]));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Returns an identity of the requests on the ConfigMap and on the Shoot; undefined without any. */
export function reconcileAtOf(annotations: readonly (string | undefined)[]): string | undefined {
  if (annotations.every((value) => value === undefined)) return undefined;
  return createHash('sha256').update(JSON.stringify(annotations)).digest('hex').slice(0, 16);
}

function withoutUndefined(requests: Requests): Requests {
  return Object.fromEntries(Object.entries(requests).filter(([, value]) => value !== undefined));
}
