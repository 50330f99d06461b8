import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { CrdSchema } from '../../../shared/flux/crd-schema.ts';
import { customResourceIn } from '../../../shared/flux/custom-resources.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { isRecord } from '../../../shared/shapes.ts';
import type { PlanInputs } from '../plan/plan.ts';
import type { Run } from '../run.ts';
import { tryInShoot } from '../shoot/act.ts';
import { kindsOf, resourceOf } from '../shoot/objects.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * True where source and Kustomization were released to the user, and no user has asked to follow the configuration again:
 * only the default of `syncMode` says so (decision 52).
 */
export function isFollowedByDefault(
  { syncMode, origins }: EffectiveConfig,
  { previous, isBootstrapped, live }: Omit<ControlPlane, 'legacy'>,
): boolean {
  const wasReleased = isBootstrapped && (previous === undefined || previous.syncMode === 'Once');
  // A ManagedResource that is being deleted is still on its way out.
  const sync = live.get(names.sync);
  const isManaged = sync !== undefined && sync.metadata.deletionTimestamp === undefined;
  return wasReleased && syncMode !== 'Once' && origins.syncMode === undefined && !isManaged;
}

/**
 * True when writing the wanted value would change nothing: beside it, the live one has only defaults. Applied over a
 * changed Kustomization, even an unchanged configuration could make Flux prune what that change has deployed.
 */
export function isAsWritten(wanted: unknown, live: unknown, schema: CrdSchema | undefined): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((entry, index) => isAsWritten(entry, live[index], schema?.items));
  }
  if (!isRecord(wanted) || !isRecord(live)) return wanted === live;
  if (Object.keys(wanted).some((field) => !Object.hasOwn(live, field))) return false;
  return Object.entries(live).every(([field, value]) => {
    const below = schemaOf(schema, field);
    if (Object.hasOwn(wanted, field)) return isAsWritten(wanted[field], value, below);
    return below?.default !== undefined && isAsWritten(below.default, value, below);
  });
}

function schemaOf({ properties = {}, additionalProperties }: CrdSchema = {}, field: string): CrdSchema | undefined {
  if (Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Shown on the Extension; both remedies are one key. */
const DIFFERENT =
  'Source or Kustomization in the shoot differ from the configuration, so they are left unchanged; ' +
  'set syncMode to ManifestsOnly to replace them, or to Once to keep them.';

/**
 * Keeps a Shoot at `Once` that follows by default, while its released objects differ from those that would be written.
 * @returns undefined when they are the same, or the Shoot follows because a user has asked for it
 */
export async function keptAtOnce(
  run: Run,
  controlPlane: ControlPlane,
  inputs: PlanInputs,
  wanted: KubeObject[],
): Promise<PlanInputs | undefined> {
  const { config, release } = inputs.render;
  if (!isFollowedByDefault(config, controlPlane)) return undefined;
  const { previous } = controlPlane;
  // The former extension has left no record of its objects.
  const hasRecord = previous === undefined || previous.source !== undefined || previous.kustomization !== undefined;
  const kinds = kindsOf(release);
  const isSame = async (shoot: KubeClient, object: KubeObject) => {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata);
    // Absent: the user has removed what was recorded, or there was nothing.
    if (live === undefined) return !hasRecord;
    return isAsWritten(object.spec, live.spec, customResourceIn(release, config, object).spec);
  };
  const areSame = await tryInShoot(run, 'released objects not compared', async (shoot) => {
    for (const object of wanted) if (!(await isSame(shoot, object))) return false;
    return true;
  });
  if (areSame === true) return undefined;
  return {
    ...inputs,
    scope: { install: false, sync: false },
    render: { ...inputs.render, config: { ...config, syncMode: 'Once' } },
    problem: areSame === false ? DIFFERENT : undefined,
  };
}
