import { ShootFluxError } from '../../../shared/errors.ts';
import { customResourceIn } from '../../../shared/flux/custom-resources.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { isAsWritten } from '../plan/adoption.ts';
import type { PlanInputs, RenderedObjects } from '../plan/inputs.ts';
import type { Run } from '../run.ts';
import { kindsOf, resourceOf } from '../shoot/kinds.ts';
import type { ControlPlane } from './control-plane.ts';
import { renderObjects } from './render.ts';

/** Shown on the Extension; both remedies are one key. */
const DIFFERENT =
  'Source or Kustomization in the shoot differ from the configuration, so they are left unchanged; ' +
  'set syncMode to ManifestsOnly to replace them, or to Once to keep them.';

/** What a plan is made of, with the objects that are rendered from it. */
export interface Planned {
  inputs: PlanInputs;
  rendered: RenderedObjects;
}

/**
 * Keeps a Shoot at `Once` while its released objects differ from what the default mode would write. Called only where
 * `isAdoptedByDefault` says so, because it asks the shoot.
 */
export async function heldBack(run: Run, controlPlane: ControlPlane, { inputs, rendered }: Planned): Promise<Planned> {
  const { config } = inputs.render;
  const state = await compared(run, controlPlane, inputs, rendered.groups.sync);
  if (state === 'same') return { inputs, rendered };
  const held: PlanInputs = {
    ...inputs,
    scope: { install: false, sync: false },
    render: { ...inputs.render, config: { ...config, syncMode: 'Once' } },
    ...(state === 'different' && { problem: DIFFERENT }),
  };
  return { inputs: held, rendered: await renderObjects(held) };
}

/** A shoot that does not answer is asked again with the next run. */
async function compared(
  run: Run,
  { previous }: ControlPlane,
  { render }: PlanInputs,
  wanted: KubeObject[],
): Promise<'same' | 'different' | 'unknown'> {
  // The former extension has left no record of its objects.
  const hasRecord = previous === undefined || previous.source !== undefined || previous.kustomization !== undefined;
  const kinds = kindsOf(render.release);
  const isSame = async (shoot: KubeClient, object: KubeObject) => {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata);
    // Absent: the user has removed what was recorded, or there was nothing.
    if (live === undefined) return !hasRecord;
    return isAsWritten(object.spec, live.spec, customResourceIn(render.release, render.config, object).spec);
  };
  try {
    const all = await withShoot(run, async (shoot) => {
      for (const object of wanted) if (!(await isSame(shoot, object))) return 'different';
      return 'same';
    });
    return all ?? 'unknown';
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    run.context.log.warn('released objects not compared', { error: describeError(error) });
    return 'unknown';
  }
}
