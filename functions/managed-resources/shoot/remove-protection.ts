import { protection } from '../../../shared/flux/protection.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { parseRef } from '../objects.ts';
import { protectedRefs, withoutProtection } from '../plan/protection.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import { fieldManager } from '../release.ts';
import type { Run } from '../run.ts';
import { inParallel } from './in-parallel.ts';
import { builtInKinds } from './kinds.ts';

/**
 * Removes the protection from objects that we have released, so that the user's Kustomizations can manage them. Tried
 * again in the next run if the shoot does not answer; the record says that it is outstanding.
 */
export async function removeLeftProtection(run: Run, controlPlane: ControlPlane): Promise<ControlPlane> {
  const { previous } = controlPlane;
  if (previous === undefined) return controlPlane;
  try {
    const isDone = await withShoot(run, (shoot) => removeProtection(shoot, protectedRefs(previous), run));
    if (isDone !== true) return controlPlane;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    run.context.log.warn('protection not removed', { error: describeError(error) });
    return controlPlane;
  }
  const record = withoutProtection(previous);
  await run.reporter.record(record);
  return { ...controlPlane, previous: record };
}

/**
 * Removes the protection from objects in the shoot; one without it is not changed.
 * @returns false when the time was up before
 */
export async function removeProtection(
  shoot: KubeClient,
  refs: string[],
  { isTimeUp, context }: Pick<Run, 'isTimeUp' | 'context'>,
): Promise<boolean> {
  const annotations = Object.fromEntries(Object.keys(protection).map((key) => [key, null]));
  const removed = await inParallel(
    refs,
    async (ref) => {
      const { type, name } = parseRef(ref);
      const resource = builtInKinds[type];
      if (resource === undefined) return;
      try {
        await unlessGone(shoot.mergePatch(resource, name, { metadata: { annotations } }, { fieldManager }));
      } catch (error) {
        // A webhook that rejects one object must not keep the others protected.
        if (!(error instanceof KubeError) || !isRefused(error)) throw error;
        context.log.warn('protection not removed', { object: ref, error: describeError(error) });
      }
    },
    isTimeUp,
  );
  return removed.length === refs.length;
}
