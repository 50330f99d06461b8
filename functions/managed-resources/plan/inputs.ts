import type { ObjectGroups, RenderInputs } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { ResourceReference } from '../../../shared/gardener/references.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Scope } from './scope.ts';
import type { SyncInputs } from './sync-objects.ts';

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
export function syncInputs(
  { scope, previous, live }: PlanInputs,
  { groups }: RenderedObjects,
): Omit<SyncInputs, keyof Synced> {
  return { next: groups.sync, live: live.get(names.sync), isInScope: scope.sync, recorded: previous?.leaving ?? [] };
}
