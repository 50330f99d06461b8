import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { objectRef, parseRef } from './objects.ts';
import type { Plan } from './plan/plan.ts';
import type { Run } from './run.ts';
import { pruningCrds, resumeAll } from './shoot/suspend.ts';

/**
 * Resumes the objects of kinds whose deletion had begun, and that the configuration does not delete any more: their
 * component is back, or `removedComponents` is `Keep` again. Suspended, they would stay so for ever, and nothing would say why.
 * @param deleted refs of the CRDs that are still to be deleted
 * @returns false when it has to be tried again
 */
export async function keepKinds(
  shoot: KubeClient,
  { reporter, isTimeUp }: Run,
  { contents }: Pick<Plan, 'contents'>,
  deleted: readonly string[],
): Promise<boolean> {
  const applied = reporter.current().status?.state?.applied;
  const kept = applied?.deletingKinds?.crds.filter((ref) => !deleted.includes(ref)) ?? [];
  if (applied?.deletingKinds === undefined || kept.length === 0) return true;
  // What leaves the configuration is suspended by us as well, and has to stay so.
  if ((applied.leaving?.length ?? 0) > 0) return false;
  const crds = kept.map((ref) => parseRef(ref).name.name).filter((name) => pruningCrds.includes(name));
  if (!(await resumeAll(shoot, isTimeUp, crds))) return false;
  const installed = new Set(contents.get(names.crds)?.map(objectRef));
  if (
    await isAnyMissing(
      shoot,
      kept.filter((ref) => installed.has(ref)),
    )
  )
    return false;
  const { deletingKinds, ...rest } = applied;
  const left = deletingKinds.crds.filter((ref) => deleted.includes(ref));
  await reporter.record({ ...rest, ...(left.length > 0 && { deletingKinds: { ...deletingKinds, crds: left } }) });
  return true;
}

/** A deletion that had begun cannot be stopped: the CRD of a component that is back is created again afterwards. */
async function isAnyMissing(shoot: KubeClient, refs: string[]): Promise<boolean> {
  const found = await inParallel(refs, (ref) =>
    shoot.find(resources.customResourceDefinitions, parseRef(ref).name, { metadataOnly: true }),
  );
  return found.some((crd) => crd === undefined || crd.metadata.deletionTimestamp !== undefined);
}
