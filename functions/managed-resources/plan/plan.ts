import { configuredObjects } from '../../../shared/config/listed/links.ts';
import { originOf } from '../../../shared/config/origins.ts';
import { FLUX_SOURCE } from '../../../shared/config/project-config.ts';
import { isTargetNamespaceOpen, targetNamespaceOf } from '../../../shared/config/target-namespace.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { issueText, MOST_ISSUES } from '../../../shared/errors.ts';
import { customResourceIn } from '../../../shared/flux/custom-resources.ts';
import type { ObjectGroups, Release, RenderInputs } from '../../../shared/flux/release.ts';
import { contentSecretName, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { listedCopies, type ResourceReference } from '../../../shared/gardener/references.ts';
import type {
  Applied,
  ImagePlaces,
  ListedObject,
  ManagedResource,
  ShootObject,
} from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { planRequest, type Requests } from '../deliver/requests.ts';
import { isSuspended, objectRef, pruningKinds, withoutSteeringKeys } from '../shoot/objects.ts';
import { renderHash } from './config-hash.ts';
import { managing, namesOutOfScope, type Scope } from './scope.ts';

/** Fields that the record takes from its caller; `state.ts` says when each appears. */
type FromCaller = 'suspension' | 'layersHash' | 'revision' | 'landscape' | 'projectSecrets' | 'problem';

/** What a plan is made of, beside the rendered objects. */
export interface PlanInputs extends Pick<Applied, FromCaller> {
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
}

/** The objects as the configuration asks for them; its components may include former ones that are still needed. */
export interface RenderedObjects {
  components: string[];
  groups: ObjectGroups;
}

/** What decides the content of the ManagedResource for sources and Kustomizations. */
export interface SyncInputs {
  /** The objects that the configuration asks for. */
  next: KubeObject[];
  /** The ManagedResource that holds the sync objects; undefined: none is there to stay, or it is out of scope. */
  live: ManagedResource | undefined;
  /** The objects that it holds, when `resourceWithFormerContent` returns it. */
  former: KubeObject[] | undefined;
  /** Refs that are pending removal by the record. */
  recorded: string[];
  /** Refs of objects that were seen suspended in the shoot itself. */
  confirmed: ReadonlySet<string>;
}

/** What the ManagedResource for sync objects holds now, and what of it was seen in the shoot. */
export type Synced = Pick<SyncInputs, 'former' | 'confirmed'>;

/** Returns what decides the sync objects, as far as it is known before the former content is read. */
export function syncInputs({ scope, previous, live }: PlanInputs, { groups }: RenderedObjects) {
  const resource = scope.sync ? managing(live, names.sync) : undefined;
  return { next: groups.sync, live: resource, recorded: previous?.leaving ?? [] };
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

/** Plans the ManagedResources and the record, from the objects with the former components where they are needed. */
export function makePlan(inputs: PlanInputs, rendered: RenderedObjects, synced: Synced): Plan {
  const { scope, previous, render, renewals } = inputs;
  const { groups } = rendered;
  const sync = { ...syncInputs(inputs, rendered), ...synced };
  const { objects, pendingRemoval } = planSyncObjects(sync);
  const placed = placeContents(scope, {
    [names.crds]: groups.crds,
    [names.controllers]: groups.controllers,
    [names.secrets]: groups.secrets,
    [names.sync]: objects,
  });
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

/**
 * Returns the ManagedResource when it holds another content than the next one, which then counts in the plan. The
 * control plane says what that content is, not the record: a record can get lost.
 */
export function resourceWithFormerContent({ next, live }: Pick<SyncInputs, 'next' | 'live'>) {
  return live?.spec.secretRefs[0]?.name === contentSecretName(names.sync, next) ? undefined : live;
}

/**
 * Returns the suspended objects that may leave once they are seen suspended in the shoot itself: that the
 * ManagedResource is applied does not say that each of its objects was written.
 */
export function leavingObjects({ next, live, former = [] }: Omit<SyncInputs, 'recorded' | 'confirmed'>): KubeObject[] {
  if (live === undefined || !isApplied(live)) return [];
  const wanted = new Set(next.map(objectRef));
  return former.filter(
    (object) => pruningKinds.has(object.kind) && isSuspended(object) && !wanted.has(objectRef(object)),
  );
}

/**
 * Adds the objects that are pending removal to those that the configuration asks for.
 * @returns also the refs of those that it no longer has and that are not removed from the shoot yet
 */
export function planSyncObjects(inputs: SyncInputs): { objects: KubeObject[]; pendingRemoval: string[] } {
  const { next, live, former, recorded } = inputs;
  const isThere = live !== undefined && isApplied(live);
  if (live === undefined || (former === undefined && isThere)) return { objects: next, pendingRemoval: [] };
  if (!isThere && isComingBack(next, former, recorded)) return { objects: former ?? [], pendingRemoval: recorded };
  const left = stillHeld(inputs);
  const objects = [...next, ...left.map(leaving)];
  // Dropped objects are pending until the content without them is applied: a sync mode that releases the ManagedResource
  // earlier would leave them in the shoot.
  const there = new Set(objects.map(objectRef));
  const dropped = recorded.filter((ref) => !there.has(ref));
  return { objects, pendingRemoval: [...new Set([...left.map(objectRef), ...dropped])] };
}

/** True when the current content is in the shoot: applied, and not merely ignored (trap 29). */
function isApplied({ metadata, status }: ManagedResource): boolean {
  const applied = status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  return status?.observedGeneration === metadata.generation && applied?.status === 'True';
}

/**
 * Never prunes workloads of the user: a Kustomization or HelmRelease that the configuration no longer has is applied
 * with `suspend: true` first, because Flux deletes a suspended one without pruning (docs/flux-facts.md). Its source
 * stays until then as well: the resource-manager deletes before it applies, and a source's finalizer may take time.
 * @returns the objects that the shoot was given last and that stay until all of them are known to be suspended there
 */
function stillHeld(inputs: SyncInputs): KubeObject[] {
  const { next, former = [], confirmed } = inputs;
  const wanted = new Set(next.map(objectRef));
  const left = former.filter((object) => !wanted.has(objectRef(object)));
  const mayLeave = new Set(leavingObjects(inputs).map(objectRef));
  const isConfirmed = (ref: string) => mayLeave.has(ref) && confirmed.has(ref);
  return left.every((object) => !pruningKinds.has(object.kind) || isConfirmed(objectRef(object))) ? [] : left;
}

/**
 * True while the configuration asks again for an object that is still being removed: applied now, it would lose its
 * `suspend`, and Flux would delete its workloads before it removes the finalizer. It is recreated once it is gone.
 */
function isComingBack(next: KubeObject[], former: KubeObject[] | undefined, recorded: string[]): boolean {
  const there = new Set(former?.map(objectRef));
  return former !== undefined && next.map(objectRef).some((ref) => recorded.includes(ref) && !there.has(ref));
}

/** An object as it leaves: suspended, and without keys that would keep the resource-manager from writing that. */
function leaving(object: KubeObject): KubeObject {
  const plain = withoutSteeringKeys(object);
  if (!pruningKinds.has(object.kind)) return plain;
  return { ...plain, spec: { ...(object.spec as object), suspend: true } };
}

type Placed = Pick<Plan, 'contents' | 'released' | 'removed'>;

function placeContents(scope: Scope, parts: Record<string, KubeObject[]>): Placed {
  const released = namesOutOfScope(scope);
  const followed = Object.entries(parts).filter(([name]) => !released.includes(name));
  const removed = followed.flatMap(([name, { length }]) => (length === 0 ? [name] : []));
  return { contents: new Map(followed.filter(([, { length }]) => length > 0)), released, removed };
}

/** The copies in use, by their names in the seed: a control-plane migration only moves those that are listed. */
function referencesOf(config: EffectiveConfig, entries: ResourceReference[]): ResourceReference[] {
  const used = [config.sourceSecret, ...config.additionalSecrets].flatMap((secret) =>
    secret?.origin.type === 'resource' ? [secret.origin.resourceName] : [],
  );
  return listedCopies(entries.filter(({ name }) => used.includes(name)));
}

/** Returns the record; requests and objects that are pending removal join it in `makePlan`. */
function recordOf(inputs: PlanInputs, rendered: RenderedObjects, { contents, released }: Placed): Applied {
  const { scope, previous, render, revision } = inputs;
  const { config, release, ownsNamespace } = render;
  // Installed objects carry the protection from the user's Kustomizations.
  const isProtected =
    previous?.protected === true || [names.crds, names.controllers].some((name) => contents.has(name));
  return {
    ...recordedConfiguration(inputs, rendered),
    fluxVersion: scope.install ? release.version : (previous?.fluxVersion ?? release.version),
    installed: previous?.installed,
    namespace: config.flux.namespace,
    ownsNamespace,
    components: rendered.components,
    syncMode: config.syncMode,
    deletionPolicy: config.deletionPolicy,
    suspension: contents.has(names.sync) ? inputs.suspension : undefined,
    layersHash: inputs.layersHash,
    revision,
    landscape: inputs.landscape,
    projectCopies: revision === undefined && inputs.landscape === undefined ? undefined : projectCopies(config),
    projectSecrets: config.hasFluxConfig ? inputs.projectSecrets : undefined,
    fromFluxConfig: config.hasFluxConfig,
    managedResources: Object.fromEntries([...contents].map(([name, list]) => [name, contentSecretName(name, list)])),
    objects: recordedObjects(contents, released, previous),
    protected: isProtected ? true : undefined,
    imagePlaces: scope.install ? imagePlaces(config) : undefined,
    warnings: config.warnings?.slice(0, MOST_ISSUES).map(issueText),
  };
}

/** Names the configuration and its objects; out of scope, those that were applied last. */
function recordedConfiguration(
  { scope, previous, render, problem }: PlanInputs,
  { components, groups }: RenderedObjects,
) {
  const { config, release } = render;
  const hash = renderHash(config, release);
  if (!scope.sync && previous !== undefined) {
    const { configHash, source, kustomization, targetNamespace, keepsNamespace, others } = previous;
    const why = problem ?? (configHash === hash ? undefined : OUT_OF_SCOPE);
    return { configHash, source, kustomization, targetNamespace, keepsNamespace, others, problem: why };
  }
  return {
    configHash: hash,
    source: rootObject(groups.sync, config, 'source'),
    kustomization: rootObject(groups.sync, config, 'kustomization'),
    ...recordedNamespace(config, previous),
    others: otherObjects(groups.sync, withComponents(config, components), release),
    problem,
  };
}

/** Without a Kustomization the last one still counts: its objects are where it has put them. */
function recordedNamespace(config: EffectiveConfig, previous: Applied | undefined) {
  if (config.kustomization === undefined) return { targetNamespace: previous?.targetNamespace };
  const targetNamespace = targetNamespaceOf(config.kustomization) ?? '';
  const isKept = targetNamespace !== '' && isTargetNamespaceOpen(config);
  return { targetNamespace, keepsNamespace: isKept ? (true as const) : undefined };
}

/** Shown, because in this mode a user may edit the configuration and wait in vain. */
const OUT_OF_SCOPE =
  'The configuration has changed, but with syncMode Once changes are not applied after the first success; ' +
  'set syncMode to ManifestsOnly or Reconcile, or change the objects in the shoot.';

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
    // CRDs stay in the shoot without their component, because users may have objects of these kinds.
    const crds = former.filter((ref) => ref.startsWith('CustomResourceDefinition.'));
    if (content !== undefined) objects[name] = [...new Set([...content.map(objectRef), ...crds])];
    else if (released.includes(name) && former.length > 0) objects[name] = former;
  }
  return objects;
}

/** Returns where options about the origin of images are written, so that `readiness` can say what to correct. */
function imagePlaces({ origins, flux }: EffectiveConfig): ImagePlaces | undefined {
  const changesImages = flux.patches?.some(({ patch }) => /\bimage/i.test(patch)) === true;
  const options = ['registry', 'imagePullSecret', ...(changesImages ? ['patches'] : [])];
  const places = options.map((option) => [option, origins[`flux.${option}`]]);
  const written = places.filter(([, place]) => place !== undefined);
  return written.length === 0 ? undefined : Object.fromEntries(written);
}

/** Returns the copies of Secrets of the project, each as `<name> <namespace>/<name in the shoot>`. */
function projectCopies({ sourceSecret, additionalSecrets }: EffectiveConfig): string[] {
  return [sourceSecret, ...additionalSecrets].flatMap((copy) => {
    if (copy?.origin.type !== 'flux-source' && copy?.origin.type !== 'project') return [];
    const name = copy.origin.type === 'project' ? copy.origin.name : FLUX_SOURCE;
    return [`${name} ${copy.namespace}/${copy.targetName ?? name}`];
  });
}

/** Where the rendered form of a configured object is in the shoot; the release's CRDs decide its apiVersion. */
function shootObject(rendered: KubeObject[], configured: KubeObject | undefined): ShootObject | undefined {
  const { name, namespace } = configured?.metadata ?? {};
  const object = rendered.find(
    ({ kind, metadata }) => kind === configured?.kind && metadata.name === name && metadata.namespace === namespace,
  );
  if (object === undefined) return undefined;
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

/** Fields of the root Kustomization whose patches sentences of `readiness` name. */
const NAMED_FIELDS = ['path', 'interval', 'timeout', 'suspend', 'decryption', 'targetNamespace'];

/**
 * Returns the source or the root Kustomization in the shoot, with the fields that patches set, and where it is written if
 * neither in keys of `flux-config` nor as `template` of a providerConfig: in a list, `config.yaml` or `overrides.yaml`.
 */
export function rootObject(
  rendered: KubeObject[],
  config: EffectiveConfig,
  part: 'source' | 'kustomization',
): ShootObject | undefined {
  const { origins } = config;
  const object = shootObject(rendered, config[part]);
  const place = origins[part]?.path === `${part}.template` ? undefined : origins[part];
  const patched = NAMED_FIELDS.flatMap((field) => {
    const origin = origins[`${part}.spec.${field}`];
    return origin?.path.includes('.patch.') ? [[`spec.${field}`, origin]] : [];
  });
  return object && { ...object, place, patched: patched.length === 0 ? undefined : Object.fromEntries(patched) };
}

/** Where the objects of the lists are in the shoot, as far as a controller reports whether they are Ready. */
function otherObjects(rendered: KubeObject[], config: EffectiveConfig, release: Release): ListedObject[] | undefined {
  const others = configuredObjects(config)
    .filter(({ object, part }) => part.startsWith('objects[') && hasReadiness(object, release, config, part))
    .flatMap(({ object, part }) => {
      const inShoot = shootObject(rendered, object);
      return inShoot === undefined ? [] : [{ ...inShoot, place: originOf(config.origins, part) }];
    });
  return others.length === 0 ? undefined : others;
}

/** The controller only reads a HelmRepository of a registry, and writes no status. */
function hasReadiness(object: KubeObject, release: Release, config: EffectiveConfig, part: string): boolean {
  const isStatic = object.kind === 'HelmRepository' && (object.spec as { type?: string }).type === 'oci';
  return !isStatic && customResourceIn(release, config, object, part).hasConditions;
}

/** Returns the configuration with these components instead of its own. */
export function withComponents(config: EffectiveConfig, components: string[]): EffectiveConfig {
  return { ...config, flux: { ...config.flux, components } };
}
