import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { shortHash } from '../plan/config-hash.ts';
import type { Plan } from '../plan/plan.ts';
import type { Run } from '../run.ts';
import { annotateAll, tryInShoot } from '../shoot/act.ts';
import { isFluxRef, kindsOf } from '../shoot/objects.ts';

/** What sources and Kustomizations in the shoot are asked to take up: rotated Secrets, and requests of users. */
export type Requests = Pick<Applied, 'copiesHash' | 'reconcileAt'>;

/**
 * Decides whether Flux in the shoot has to be asked, once everything is applied, and what is recorded before and after;
 * without a record it is not, as new objects take everything up themselves.
 */
export function planRequest(copies: KubeObject[], reconcileAt: string | undefined, previous: Applied | undefined) {
  // A request that is withdrawn stays recorded: the same one, put back, has been carried out.
  const after: Requests = { copiesHash: hashOf(copies), reconcileAt: reconcileAt ?? previous?.reconcileAt };
  const before: Requests =
    previous === undefined ? after : { copiesHash: previous.copiesHash, reconcileAt: previous.reconcileAt };
  const isDue = before.copiesHash !== after.copiesHash || before.reconcileAt !== after.reconcileAt;
  return { before, after, isDue };
}

/** Only the content of Secrets: Flux reads ConfigMaps with each attempt, and labels of the copies are ours. */
function hashOf(copies: KubeObject[]): string {
  const secrets = copies.filter(({ kind }) => kind === 'Secret');
  return shortHash(
    secrets.map(({ metadata, data }) => JSON.stringify([metadata.namespace, metadata.name, data])).join(''),
  );
}

/** Returns an identity of the requests on the ConfigMap and on the Shoot; undefined without any. */
export function reconcileAtOf(annotations: readonly (string | undefined)[]): string | undefined {
  if (annotations.every((value) => value === undefined)) return undefined;
  return shortHash(JSON.stringify(annotations));
}

/** The annotation with which `flux reconcile` asks the controllers, too. */
const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';

/** gardenlet may wait for the run. */
const TIMEOUT_MS = 2000;

/**
 * Asks the objects of Flux that came from us to reconcile now, in the shoot: from the ManagedResource, the
 * resource-manager would revert the annotation of a `flux reconcile`, and could not ask objects that are released.
 * @returns false when the shoot could not be reached; ask again later
 */
export async function requestReconciliation(run: Run, { record, fluxRelease, requests = {} }: Plan): Promise<boolean> {
  const refs = (record.objects[names.sync] ?? []).filter(
    (ref) => isFluxRef(ref) && askedKinds.has(ref.split('.')[0] ?? ''),
  );
  if (refs.length === 0) return true;
  // Flux compares the value and does not read it as a time. Derived from the request, it is the same in every attempt,
  // so that a repeated one changes nothing.
  const value = [requests.copiesHash, requests.reconcileAt].filter((part) => part !== undefined).join('.');
  const failure = 'reconciliation not requested';
  const ask = (shoot: KubeClient) =>
    annotateAll(run, shoot, refs, { [REQUESTED_AT]: value }, failure, kindsOf(fluxRelease));
  return (await tryInShoot(run, failure, ask, { timeoutMs: TIMEOUT_MS })) ?? false;
}

/** Kinds that `flux reconcile` asks. The others have no work of their own. */
export const askedKinds: ReadonlySet<string> = new Set([
  'GitRepository',
  'OCIRepository',
  'Bucket',
  'HelmRepository',
  'HelmChart',
  'ArtifactGenerator',
  'Kustomization',
  'HelmRelease',
  'Receiver',
  'ImageRepository',
  'ImagePolicy',
  'ImageUpdateAutomation',
]);
