import { createHash } from 'node:crypto';
import type { EffectiveConfig } from '../../../shared/config/effective.ts';
import { configHash } from '../../../shared/config/hash.ts';
import type { ObjectGroups, Release } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import { objectRef } from '../../../shared/gardener/object-ref.ts';
import type { Applied, ShootObject } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Followed } from './follow.ts';
import type { SyncSet } from './leaving.ts';

/** What should be in the control plane for a Shoot. */
export interface Desired {
  /** Recorded in the Extension's state before anything is written. */
  applied: Applied;
  /** ManagedResource name -> objects, in the order of writing; a name that is missing has no ManagedResource. */
  contents: Map<string, KubeObject[]>;
  /** ManagedResources that the mode lets go: the objects stay, the ManagedResource goes. */
  released: string[];
  /** ManagedResources that go with their objects. */
  removed: string[];
}

export interface DesiredInputs {
  config: EffectiveConfig;
  release: Release;
  groups: ObjectGroups;
  /** Of Flux, as `groups` has them: those of the mode, and those that something leaving still needs. */
  components: string[];
  /** The sync objects of `groups` with those that are leaving. */
  sync: SyncSet;
  follow: Followed;
  ownsNamespace: boolean;
  previous: Applied | undefined;
}

/** Said, because who edits the configuration of a Shoot in this mode may wait for the edit in vain. */
const NOT_FOLLOWED =
  'The configuration has changed since Flux came up, and with syncMode Once it is not followed any more; ' +
  'set syncMode to ManifestsOnly or Reconcile, or change the objects in the shoot.';

/** Pure: from the configuration and its objects to ManagedResources and the record of them. */
export function desired(inputs: DesiredInputs): Desired {
  const { config, release, groups, sync, follow, previous } = inputs;
  const contents = new Map<string, KubeObject[]>();
  const released: string[] = [];
  const removed: string[] = [];
  const place = (name: string, isFollowed: boolean, objects: KubeObject[]) => {
    if (!isFollowed) released.push(name);
    else if (objects.length === 0) removed.push(name);
    else contents.set(name, objects);
  };
  place(names.crds, follow.install, groups.crds);
  place(names.controllers, follow.install, groups.controllers);
  place(names.secrets, true, groups.secrets);
  place(names.sync, follow.sync, sync.objects);

  const objects: Record<string, string[]> = {};
  for (const name of Object.values(names)) {
    const content = contents.get(name);
    const former = previous?.objects[name] ?? [];
    // What was let go or is kept stays on record: an Uninstall finds its targets here.
    if (content !== undefined) objects[name] = [...new Set([...content.map(objectRef), ...former.filter(isKept)])];
    else if (released.includes(name) && former.length > 0) objects[name] = former;
  }
  const kept = follow.sync ? undefined : previous;
  const hash = renderHash(config, release);
  const problem = kept === undefined || kept.configHash === hash ? undefined : NOT_FOLLOWED;
  return {
    contents,
    released,
    removed,
    applied: {
      configHash: kept?.configHash ?? hash,
      fluxVersion: follow.install ? release.version : (previous?.fluxVersion ?? release.version),
      namespace: config.flux.namespace,
      ownsNamespace: inputs.ownsNamespace,
      components: inputs.components,
      syncMode: config.syncMode,
      ...optional('deletionPolicy', config.deletionPolicy),
      fromFluxConfig: config.hasFluxConfig,
      managedResources: Object.fromEntries([...contents].map(([name, list]) => [name, contentSecretName(name, list)])),
      objects,
      ...optional('source', kept === undefined ? shootObject(groups.sync, config.source) : kept.source),
      ...optional(
        'kustomization',
        kept === undefined ? shootObject(groups.sync, config.kustomization) : kept.kustomization,
      ),
      ...optional('problem', problem),
      ...(sync.leaving.length > 0 && follow.sync ? { leaving: sync.leaving } : {}),
    },
  };
}

/** CRDs stay in the shoot when their component leaves, because of what the user made of them. */
function isKept(ref: string): boolean {
  return ref.startsWith('CustomResourceDefinition.');
}

/** Identifies an effective config together with the release that it is rendered from; 16 hex digits. */
export function renderHash(config: EffectiveConfig, release: Release): string {
  return createHash('sha256')
    .update(`${configHash(config)} ${release.version} ${release.digest}`)
    .digest('hex')
    .slice(0, 16);
}

/** Where the rendered form of a configured object lives; its apiVersion comes from the release's CRDs. */
function shootObject(rendered: KubeObject[], configured: KubeObject | undefined): ShootObject | undefined {
  if (configured === undefined) return undefined;
  const object = rendered.find(
    ({ kind, metadata }) => kind === configured.kind && metadata.name === configured.metadata.name,
  );
  if (object === undefined) return undefined;
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
