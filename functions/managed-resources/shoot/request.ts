import { ShootFluxError } from '../../../shared/errors.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import { isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isFluxRef, parseRef } from '../objects.ts';
import type { Plan } from '../plan/plan.ts';
import { fieldManager } from '../release.ts';
import type { Run } from '../run.ts';
import { kindsOf } from './kinds.ts';

/** The annotation with which `flux reconcile` asks the controllers, too. */
const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';

/** gardenlet may wait for the run. */
const TIMEOUT_MS = 2000;

/**
 * Asks the objects of Flux that came from us to reconcile now. We write to the shoot, not into the content of
 * the ManagedResource: the resource-manager would revert the annotation of a `flux reconcile`, and objects that are
 * released could not be asked.
 * @returns false when the shoot could not be reached; ask again later
 */
export async function requestReconciliation(run: Run, { record, fluxRelease, requests = {} }: Plan): Promise<boolean> {
  const refs = (record.objects[names.sync] ?? []).filter(
    (ref) => isFluxRef(ref) && askedKinds.has(ref.split('.')[0] ?? ''),
  );
  if (refs.length === 0) return true;
  const kinds = kindsOf(fluxRelease);
  // Flux compares the value and does not read it as a time. Derived from the request, it is the same in every attempt,
  // so that a repeated one changes nothing.
  const value = [requests.copiesHash, requests.reconcileAt].filter((part) => part !== undefined).join('.');
  const patch = { metadata: { annotations: { [REQUESTED_AT]: value } } };
  try {
    const done = await withShoot(
      run,
      async (shoot) => {
        await inParallel(refs.map(parseRef), async ({ type, name }) => {
          const resource = kinds[type];
          if (resource === undefined) return;
          try {
            await unlessGone(shoot.mergePatch(resource, name, patch, { fieldManager }));
          } catch (error) {
            // A webhook of the shoot may refuse one; Flux then follows with its interval.
            if (!(error instanceof KubeError) || !isRefused(error)) throw error;
            run.context.log.warn('reconciliation not requested', { error: describeError(error) });
          }
        });
        return true;
      },
      { timeoutMs: TIMEOUT_MS },
    );
    return done ?? false;
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    run.context.log.warn('reconciliation not requested', { error: describeError(error) });
    return false;
  }
}

/**
 * Kinds that `flux reconcile` asks. The others have no work of their own: Alerts and Providers act on events, and an
 * ExternalArtifact is made by others.
 */
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
