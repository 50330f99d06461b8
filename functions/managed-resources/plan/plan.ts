import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { issueText, MOST_ISSUES } from '../../../shared/errors.ts';
import type { ObjectGroups, Release, RenderInputs } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import { listedCopies, type ResourceReference } from '../../../shared/gardener/references.ts';
import type { Applied, ImagePlaces, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { planRequest, type Requests } from '../deliver/requests.ts';
import { projectCopies } from '../rollout/keep.ts';
import { objectRef } from '../shoot/objects.ts';
import { protects } from '../shoot/protection.ts';
import { renderHash } from './config-hash.ts';
import { otherObjects, rootObject } from './record.ts';
import { withComponents } from './render.ts';
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
export function syncInputs(
  { scope, previous, live }: PlanInputs,
  { groups }: RenderedObjects,
): Omit<SyncInputs, keyof Synced> {
  return { next: groups.sync, live: live.get(names.sync), isInScope: scope.sync, recorded: previous?.leaving ?? [] };
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
      ...(pendingRemoval.length > 0 && scope.sync && { leaving: pendingRemoval }),
    },
    ...placed,
    fluxRelease: render.release,
    references: referencesOf(render.config, inputs.shootResources),
    renewals,
    awaitsSuspension: leavingObjects(sync).length > synced.confirmed.size,
    ...(request.isDue && { requests: request.after }),
  };
}

/** Returns the record, without requests and without the objects that are pending removal. */
function recordOf(inputs: PlanInputs, rendered: RenderedObjects, { contents, released }: Placed): Applied {
  const { scope, previous, render } = inputs;
  const { config, release, ownsNamespace } = render;
  return {
    ...recordedConfiguration(inputs, rendered),
    fluxVersion: scope.install ? release.version : (previous?.fluxVersion ?? release.version),
    ...optional('installed', previous?.installed),
    namespace: config.flux.namespace,
    ownsNamespace,
    components: rendered.components,
    syncMode: config.syncMode,
    ...optional('deletionPolicy', config.deletionPolicy),
    ...optional('layersHash', inputs.layersHash),
    ...optional('revision', inputs.revision),
    ...(inputs.revision !== undefined && { projectCopies: projectCopies(config) }),
    ...(config.hasFluxConfig && optional('projectSecrets', inputs.projectSecrets)),
    fromFluxConfig: config.hasFluxConfig,
    managedResources: Object.fromEntries([...contents].map(([name, list]) => [name, contentSecretName(name, list)])),
    objects: recordedObjects(contents, released, previous),
    ...(protects(contents, previous) && { protected: true as const }),
    ...optional('imagePlaces', scope.install ? imagePlaces(config) : undefined),
    ...optional('warnings', config.warnings?.slice(0, MOST_ISSUES).map(issueText)),
  };
}

/** Names the configuration and its objects; out of scope, those that were applied last. */
function recordedConfiguration(
  { scope, previous, render, problem }: PlanInputs,
  { components, groups }: RenderedObjects,
): Pick<Applied, 'configHash' | 'source' | 'kustomization' | 'others' | 'problem'> {
  const { config, release } = render;
  const hash = renderHash(config, release);
  if (!scope.sync && previous !== undefined) {
    const { configHash, source, kustomization, others } = previous;
    return {
      configHash,
      ...optional('source', source),
      ...optional('kustomization', kustomization),
      ...optional('others', others),
      ...optional('problem', problem ?? (configHash === hash ? undefined : OUT_OF_SCOPE)),
    };
  }
  return {
    configHash: hash,
    ...optional('source', rootObject(groups.sync, config, 'source')),
    ...optional('kustomization', rootObject(groups.sync, config, 'kustomization')),
    ...optional('others', otherObjects(groups.sync, withComponents(config, components), release)),
    ...optional('problem', problem),
  };
}

/** Shown, because in this mode a user may edit the configuration and wait in vain. */
const OUT_OF_SCOPE =
  'The configuration has changed, but with syncMode Once changes are not applied after the first success; ' +
  'set syncMode to ManifestsOnly or Reconcile, or change the objects in the shoot.';

type Placed = Pick<Plan, 'contents' | 'released' | 'removed'>;

/** Decides which ManagedResources are written, released and removed. */
function placeContents(parts: { name: string; isInScope: boolean; objects: KubeObject[] }[]): Placed {
  const followed = parts.filter(({ isInScope }) => isInScope);
  return {
    contents: new Map(followed.filter(({ objects }) => objects.length > 0).map(({ name, objects }) => [name, objects])),
    released: parts.filter(({ isInScope }) => !isInScope).map(({ name }) => name),
    removed: followed.filter(({ objects }) => objects.length === 0).map(({ name }) => name),
  };
}

/** Released objects and CRDs of former components stay on record: an uninstallation finds its targets here. */
function recordedObjects(
  contents: Map<string, KubeObject[]>,
  released: string[],
  previous: Applied | undefined,
): Record<string, string[]> {
  const objects: Record<string, string[]> = {};
  for (const name of Object.values(names)) {
    const content = contents.get(name);
    const former = previous?.objects[name] ?? [];
    if (content !== undefined) objects[name] = [...new Set([...content.map(objectRef), ...former.filter(isCrdRef)])];
    else if (released.includes(name) && former.length > 0) objects[name] = former;
  }
  return objects;
}

/** CRDs stay in the shoot without their component, because users may have objects of these kinds. */
function isCrdRef(ref: string): boolean {
  return ref.startsWith('CustomResourceDefinition.');
}

/** The copies in use, by their names in the seed: a control-plane migration only moves those that are listed. */
function referencesOf(config: EffectiveConfig, entries: ResourceReference[]): ResourceReference[] {
  const used = [config.sourceSecret, ...config.additionalSecrets].flatMap((secret) =>
    secret?.origin.type === 'resource' ? [secret.origin.resourceName] : [],
  );
  return listedCopies(entries.filter(({ name }) => used.includes(name)));
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

/**
 * Returns where the options are written that decide from where images are pulled, so that `readiness` can say what to
 * correct. Those with their default are nowhere.
 */
function imagePlaces({ origins, flux }: Pick<EffectiveConfig, 'origins' | 'flux'>): ImagePlaces | undefined {
  const changesImages = flux.patches?.some(({ patch }) => /\bimage/i.test(patch)) === true;
  const options: (keyof ImagePlaces)[] = [
    'registry',
    'imagePullSecret',
    ...(changesImages ? ['patches' as const] : []),
  ];
  const places: ImagePlaces = {};
  for (const option of options) {
    const origin = origins[`flux.${option}`];
    if (origin !== undefined) places[option] = { object: origin.object, path: origin.path };
  }
  return Object.keys(places).length === 0 ? undefined : places;
}
