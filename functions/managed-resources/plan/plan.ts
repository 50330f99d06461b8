import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { ObjectGroups, Release, RenderInputs } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { listedCopies, type ResourceReference } from '../../../shared/gardener/references.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { planRequest, type Requests } from '../deliver/requests.ts';
import { recordOf } from './record.ts';
import type { Scope } from './scope.ts';
import { leavingObjects, planSyncObjects, type SyncInputs } from './sync-objects.ts';

/** What a plan is made of, beside the rendered objects. */
export interface PlanInputs {
  scope: Scope;
  /** The last record. */
  previous: Applied | undefined;
  /** Our ManagedResources by name. */
  live: ReadonlyMap<string, ManagedResource>;
  /** Everything that the objects are rendered from, with the components that the configuration asks for. */
  render: RenderInputs;
  /** The Shoot's `spec.resources`. */
  shootResources: ResourceReference[];
  renewals: number[];
  /** Identity of the requests of users that Flux in the shoot should reconcile now. */
  reconcileAt?: string | undefined;
  /** Recorded where the landscape has defaults or a policy. */
  layersHash?: string | undefined;
  /** Recorded where the project has a rollout. */
  revision?: string | undefined;
  /** The Secrets of the project that were found; recorded where the project has a `flux-config`. */
  projectSecrets?: string[] | undefined;
  /** Why the configuration is not applied as a whole; shown on the Extension. */
  problem?: string | undefined;
}

/** The objects as the configuration asks for them, before the objects that are pending removal join them. */
export interface RenderedObjects {
  components: string[];
  groups: ObjectGroups;
}

/** What the ManagedResource for sync objects holds now, and what of it was seen in the shoot. */
export type Synced = Pick<SyncInputs, 'former' | 'confirmed'>;

/** Returns what decides the sync objects, as far as it is known before the former content is read. */
export function syncInputs({ scope, previous, live }: PlanInputs, { groups }: RenderedObjects) {
  const resource = live.get(names.sync);
  const isManaged = scope.sync && resource?.metadata.deletionTimestamp === undefined;
  return { next: groups.sync, live: isManaged ? resource : undefined, recorded: previous?.leaving ?? [] };
}

/** What a Shoot should get, and what is recorded about it. */
export interface Plan {
  /** Recorded on the Extension before anything is written. */
  record: Applied;
  /** ManagedResource name -> objects, in the order of writing; every other ManagedResource is released or removed. */
  contents: Map<string, KubeObject[]>;
  /** ManagedResources that are out of scope: deleted, while their objects stay in the shoot. */
  released: string[];
  /** ManagedResources that are deleted together with their objects. */
  removed: string[];
  fluxRelease: Release;
  /** The copies in use, for `status.resources`. */
  references: ResourceReference[];
  /** When Gardener renews each token among the copies, in epoch ms. */
  renewals: number[];
  /** Recorded once everything is applied and Flux was asked to follow; undefined: nothing asks for that. */
  requests?: Requests | undefined;
  /** True: an object that leaves is not suspended in the shoot, or the shoot did not answer; no event says when it is. */
  awaitsSuspension: boolean;
}

/**
 * Plans the ManagedResources and the record.
 * @param rendered with the former components where they are needed
 */
export function makePlan(inputs: PlanInputs, rendered: RenderedObjects, synced: Synced): Plan {
  const { scope, previous, render, renewals } = inputs;
  const { groups } = rendered;
  const sync = { ...syncInputs(inputs, rendered), ...synced };
  const { objects, pendingRemoval } = planSyncObjects(sync);
  const placed = placeContents([
    { name: names.crds, isInScope: scope.install, objects: groups.crds },
    { name: names.controllers, isInScope: scope.install, objects: groups.controllers },
    { name: names.secrets, isInScope: true, objects: groups.secrets },
    { name: names.sync, isInScope: scope.sync, objects },
  ]);
  const request = planRequest(groups.secrets, inputs.reconcileAt, previous);
  return {
    record: {
      ...recordOf(inputs, rendered, placed),
      ...request.before,
      leaving: pendingRemoval.length > 0 && scope.sync ? pendingRemoval : undefined,
    },
    ...placed,
    fluxRelease: render.release,
    references: referencesOf(render.config, inputs.shootResources),
    renewals,
    awaitsSuspension: leavingObjects(sync).length > synced.confirmed.size,
    requests: request.isDue ? request.after : undefined,
  };
}

export type Placed = Pick<Plan, 'contents' | 'released' | 'removed'>;

/** Decides which ManagedResources are written, released and removed. */
function placeContents(parts: { name: string; isInScope: boolean; objects: KubeObject[] }[]): Placed {
  const followed = parts.filter(({ isInScope }) => isInScope);
  return {
    contents: new Map(followed.filter(({ objects }) => objects.length > 0).map(({ name, objects }) => [name, objects])),
    released: parts.filter(({ isInScope }) => !isInScope).map(({ name }) => name),
    removed: followed.filter(({ objects }) => objects.length === 0).map(({ name }) => name),
  };
}

/** The copies in use, by their names in the seed: a control-plane migration only moves those that are listed. */
function referencesOf(config: EffectiveConfig, entries: ResourceReference[]): ResourceReference[] {
  const used = [config.sourceSecret, ...config.additionalSecrets].flatMap((secret) =>
    secret?.origin.type === 'resource' ? [secret.origin.resourceName] : [],
  );
  return listedCopies(entries.filter(({ name }) => used.includes(name)));
}
