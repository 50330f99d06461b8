import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { builtInKinds } from '../../../functions/managed-resources/shoot/objects.ts';
import { unpackContent } from '../../../shared/gardener/managed-resource.ts';
import { readState } from '../../../shared/gardener/rollout.ts';
import { FINALIZER, ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { isProtected, PROJECT } from '../stage.ts';
import type { Lifecycle } from './lifecycles.ts';
import type { World } from './world.ts';

const kinds = {
  garden: [
    ['v1', 'ConfigMap'],
    ['v1', 'Secret'],
    ['v1', 'Event'],
  ],
  seed: [
    ['extensions.gardener.cloud/v1alpha1', 'Extension'],
    ['extensions.gardener.cloud/v1alpha1', 'Cluster'],
    ['resources.gardener.cloud/v1alpha1', 'ManagedResource'],
    ['v1', 'Secret'],
    ['v1', 'ConfigMap'],
  ],
  shoot: [
    ['v1', 'Namespace'],
    ['v1', 'Secret'],
    ['v1', 'ConfigMap'],
    ['v1', 'Service'],
    ['v1', 'ServiceAccount'],
    ['v1', 'ResourceQuota'],
    ['apps/v1', 'Deployment'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    ['source.toolkit.fluxcd.io/v1', 'GitRepository'],
    ['source.toolkit.fluxcd.io/v1', 'OCIRepository'],
    ['kustomize.toolkit.fluxcd.io/v1', 'Kustomization'],
  ],
} as const;

/** All objects of a world by `cluster kind namespace/name`, without the fields that differ from run to run. */
export interface EndState {
  objects: Record<string, unknown>;
  /** Facts about how the world reached this state. */
  history: { deletedInShoot: string[]; bootstrapped?: string | undefined };
}

export function endState(world: World): EndState {
  const known = generated(world);
  const objects: Record<string, unknown> = {};
  for (const cluster of ['garden', 'seed', 'shoot'] as const) {
    for (const [apiVersion, kind] of kinds[cluster]) {
      for (const object of listed(world[cluster], apiVersion, kind)) {
        const { namespace = '', name } = object.metadata;
        // The kubeconfig of the shoot, with another port each time.
        if (cluster === 'seed' && name === 'gardener') continue;
        const text = withoutGenerated(JSON.stringify(comparable(object)), known);
        const title = withoutGenerated(`${cluster} ${kind} ${namespace}/${nameOf(object, name)}`, known);
        objects[unused(objects, title)] = JSON.parse(text);
      }
    }
  }
  const bootstrapped = bootstrappedOf(objects[EXTENSION]);
  return { objects, history: { deletedInShoot: deletedInShoot(world), bootstrapped: bootstrapped?.configHash } };
}

const EXTENSION = 'seed Extension shoot--foo--bar/shoot-flux';

/** Removes the hash from the compared objects: it shows which configuration was the first. */
function bootstrappedOf(extension: unknown): { configHash?: string } | undefined {
  const { status } = (extension ?? {}) as { status?: { state?: { bootstrapped?: { configHash?: string } } } };
  const { bootstrapped } = status?.state ?? {};
  if (bootstrapped === undefined) return undefined;
  const { configHash } = bootstrapped;
  bootstrapped.configHash = 'hash';
  return configHash === undefined ? {} : { configHash };
}

function deletedInShoot({ shoot }: World): string[] {
  const deleted = shoot.requests.filter(({ method, status }) => method === 'DELETE' && status < 300);
  return [...new Set(deleted.map(({ path }) => path))].sort();
}

const synced = /\/(kustomizations|gitrepositories)\/[^/]+$/;
/** Objects that Flux has deployed. */
const workloads = /\/namespaces\/apps\//;

/**
 * Returns everything in the world that must never happen in any scenario.
 * @param removes whether the scenario removes Flux
 * @param deletes paths of further objects in the shoot that it deletes
 * @param unprotects whether nothing is protected in the end
 */
export function violations(
  world: World,
  { removes = false, deletes, unprotects = false }: Pick<Lifecycle, 'removes' | 'deletes' | 'unprotects'>,
): string[] {
  const secrets = new Set(listed(world.seed, 'v1', 'Secret').map(({ metadata }) => metadata.name));
  const managed = listed(world.seed, 'resources.gardener.cloud/v1alpha1', 'ManagedResource');
  const dangling = managed
    .flatMap(({ metadata, spec }) =>
      (spec as { secretRefs: { name: string }[] }).secretRefs.map(({ name }) => [metadata.name, name] as const),
    )
    .filter(([, name]) => !secrets.has(name));
  return [
    ...dangling.map(
      ([resource, secret]) => `ManagedResource ${resource} refers to Secret ${secret}, which does not exist`,
    ),
    ...deletedInShoot(world)
      .filter((path) => (removes ? workloads : synced).test(path) === removes && deletes?.test(path) !== true)
      .map((path) => `${path} was deleted in the shoot`),
    ...world.flux.pruned.map((name) => `Kustomization ${name} was deleted together with its objects`),
    ...world.deadLetters(),
    ...remains(world, removes),
    ...(unprotects ? stillProtected(world) : []),
  ];
}

function stillProtected({ shoot }: World): string[] {
  const kinds = Object.values(builtInKinds);
  return kinds
    .flatMap(({ group, version, kind }) => listed(shoot, group === '' ? version : `${group}/${version}`, kind))
    .filter(isProtected)
    .map(({ kind, metadata }) => `${kind} ${metadata.name} stays protected`);
}

/** A removed extension leaves nothing behind, and an existing one keeps its finalizer while it is needed. */
function remains({ gardenlet, seed, shoot }: World, removes: boolean): string[] {
  const isOurs = ({ metadata }: KubeObject) => metadata.labels?.[ORIGIN_LABEL] === ORIGIN;
  const managed = listed(seed, 'resources.gardener.cloud/v1alpha1', 'ManagedResource').filter(isOurs);
  const extension = gardenlet.extension();
  if (extension !== undefined) {
    const { deletionTimestamp, finalizers = [] } = extension.metadata;
    if (deletionTimestamp !== undefined) return ['the Extension is not deleted'];
    const holds = managed.length === 0 || finalizers.includes(FINALIZER);
    return holds ? [] : ['the Extension has ManagedResources and no finalizer'];
  }
  const ofFlux = [
    ...listed(shoot, 'apps/v1', 'Deployment'),
    ...listed(shoot, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  ];
  return [...managed, ...listed(seed, 'v1', 'Secret').filter(isOurs), ...(removes ? ofFlux : [])].map(
    ({ kind, metadata }) => `${kind} ${metadata.name} stays behind`,
  );
}

/** Two objects that only differ in what is generated both count. */
function unused(objects: Record<string, unknown>, title: string): string {
  let free = title;
  for (let count = 2; free in objects; count++) free = `${title} (${count})`;
  return free;
}

/** The names of Events are hashes of what they say. */
function nameOf({ kind, reason, message }: KubeObject, name: string): string {
  return kind === 'Event' ? `${reason}: ${message}` : name;
}

/** Fields that hold times or counts of changes. */
const times = new Set([
  'observedGeneration',
  'lastUpdateTime',
  'lastTransitionTime',
  'firstTimestamp',
  'lastTimestamp',
  'gardener.cloud/timestamp',
  'failingSince',
  'removalBegan',
]);

function comparable({ metadata, ...object }: KubeObject): unknown {
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, deletionTimestamp, ...rest } =
    metadata as KubeObject['metadata'] & { managedFields?: unknown };
  const { status } = object as { status?: { observedGeneration?: number; secretsDataChecksum?: string } };
  const observed =
    status?.observedGeneration === undefined ? {} : { observed: status.observedGeneration === generation };
  return withoutTimes({
    ...object,
    metadata: { ...rest, deleting: deletionTimestamp !== undefined },
    ...(status === undefined ? {} : { status: { ...status, secretsDataChecksum: '', ...observed } }),
    ...(object.kind === 'Secret' ? { data: contentOf(object) } : {}),
    ...(object.kind === 'ConfigMap' && metadata.name === 'flux-status' ? { data: rolloutOf(object) } : {}),
    ...(object.kind === 'Event' ? { metadata: {}, involvedObject: {} } : {}),
  });
}

/** The state of a rollout, without times. */
function rolloutOf({ data = {} }: Record<string, unknown>): unknown {
  const { RolloutState = '', ...rest } = data as Record<string, string>;
  const state = readState(RolloutState);
  const inProgress = [...(state?.inProgress ?? [])].map(([shoot, place]) => [shoot, { ...place, since: 'time' }]);
  return { ...rest, ...state, began: 'time', inProgress, waiting: [...(state?.waiting.keys() ?? [])] };
}

/** Brotli may compress the same text differently. */
function contentOf({ data }: Record<string, unknown>): unknown {
  const packed = data as Record<string, string> | undefined;
  return (packed && unpackContent(packed)) ?? data;
}

function withoutTimes(value: unknown, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTimes(item, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      times.has(key) || (key === 'at' && path === 'bootstrapped') ? 'time' : withoutTimes(item, key),
    ]),
  );
}

/** The key pair differs in each run: returns all forms in which it appears, with placeholders. */
function generated(world: World): [string, string][] {
  const name = { namespace: PROJECT, name: 'flux-source' };
  const secret = world.garden.objects.find({ apiVersion: 'v1', kind: 'Secret', metadata: name }) as
    | (KubeObject & { data?: Record<string, string> })
    | undefined;
  const annotations = secret?.metadata.annotations ?? {};
  return [
    ...Object.entries(secret?.data ?? {}).map(([key, value]): [string, string] => [value, `«${key}»`]),
    ...Object.entries(annotations).map(([key, value]): [string, string] => [value, `«${key}»`]),
  ].sort(([one], [other]) => other.length - one.length);
}

function withoutGenerated(text: string, known: [string, string][]): string {
  let result = text;
  for (const [value, placeholder] of known) result = result.replaceAll(JSON.stringify(value).slice(1, -1), placeholder);
  // The identity of a request to Flux depends on generated credentials.
  result = result.replace(/("reconcile\.fluxcd\.io\/requestedAt":")[^"]+/g, '$1«request»');
  if (known.length === 0) return result;
  return result
    .replace(/(ssh-ed25519) [A-Za-z0-9+/]{60,}=*/g, '$1 «former key»')
    .replace(/managedresource-shoot-flux-secrets-[0-9a-f]{8}/g, 'managedresource-shoot-flux-secrets-«hash»')
    .replace(/("copiesHash":")[0-9a-f]+/g, '$1«hash»')
    .replace(
      /(reference\.resources\.gardener\.cloud\/secret-)[0-9a-f]{8}(":"managedresource-shoot-flux-secrets)/g,
      '$1«hash»$2',
    );
}

/** Objects of a kind, or none where the kind is not served. */
function listed({ objects }: KubeApi, apiVersion: string, kind: string): KubeObject[] {
  try {
    return objects.list(apiVersion, kind) as KubeObject[];
  } catch {
    return [];
  }
}

/** Where two end states differ, one line each; empty when nowhere. */
export function differences(one: unknown, other: unknown, path = ''): string[] {
  if (!isObject(one) || !isObject(other)) {
    const [text, otherText] = [JSON.stringify(one), JSON.stringify(other)];
    return text === otherText ? [] : [`${path}: ${short(text)}, but ${short(otherText)}`];
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path} > ${key}`));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function short(text: string | undefined): string {
  if (text === undefined) return 'absent';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
