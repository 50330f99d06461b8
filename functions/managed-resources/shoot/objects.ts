import { isCrd } from '../../../shared/flux/custom-resources.ts';
import type { Release } from '../../../shared/flux/release.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type ObjectName, type Resource, resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { fieldManager } from '../read/control-plane.ts';

/** Returns `Kind.group/namespace/name`; the namespace is empty for cluster-scoped objects, the group for core ones. */
export function objectRef(object: KubeObject): string {
  const slash = object.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : `.${object.apiVersion.slice(0, slash)}`;
  return `${object.kind}${group}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

/** Splits a ref; `type` is `Kind.group`. */
export function parseRef(ref: string): { type: string; name: ObjectName } {
  const [type = '', namespace = '', name = ''] = ref.split('/');
  return { type, name: { ...(namespace && { namespace }), name } };
}

/** Kinds whose objects delete what they have deployed when they are deleted themselves. */
export const pruningKinds: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** True for objects of Flux's own kinds: a controller of Flux has to remove their finalizers. */
export function isFluxRef(ref: string): boolean {
  return /^\w+\.[\w.]+\.fluxcd\.io\//.test(ref);
}

/** True for objects that must be suspended before they are deleted, or Flux deletes their workloads as well. */
export function isPruningRef(ref: string): boolean {
  return isFluxRef(ref) && pruningKinds.has(ref.split('.')[0] ?? '');
}

/** True for a Kustomization or HelmRelease that Flux deletes without deleting what it has deployed. */
export function isSuspended(object: KubeObject): boolean {
  return (object.spec as { suspend?: boolean } | undefined)?.suspend === true;
}

/** Kubernetes' own kinds in Flux's releases and among our copies, by `Kind.group`. */
export const builtInKinds: Record<string, Resource> = Object.fromEntries(
  [
    ...[resources.namespaces, resources.secrets, resources.configMaps, resources.deployments],
    ...[resources.customResourceDefinitions, resources.services, resources.persistentVolumeClaims],
    resource('', 'v1', 'serviceaccounts', 'ServiceAccount'),
    resource('', 'v1', 'resourcequotas', 'ResourceQuota'),
    resource('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy'),
    resource('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
    resource('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
    resource('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole', false),
    resource('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false),
  ].map((one) => [typeOf(one), one]),
);

/** Returns `Kind.group`. */
function typeOf({ group, kind }: Pick<Resource, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** Returns the kinds of a Flux release, by `Kind.group`: the built-in ones and those of its CRDs. */
export function kindsOf(release: Release): Record<string, Resource> {
  const kinds = { ...builtInKinds };
  for (const object of [...release.files.values()].flat()) {
    const kind = isCrd(object) ? servedKind(object) : undefined;
    if (kind !== undefined) kinds[typeOf(kind)] = kind;
  }
  return kinds;
}

/** Returns the version in which a CustomResourceDefinition stores its objects. */
export function storedVersion(crd: KubeObject | undefined): string | undefined {
  const [stored] = entriesAt(crd?.spec, 'versions').filter(({ storage }) => storage === true);
  return textAt(stored, 'name');
}

/** Returns the kind of a CustomResourceDefinition, in the version that it stores, or else in one that it serves. */
export function servedKind({ spec }: KubeObject): Resource | undefined {
  const [group, plural, kind] = [textAt(spec, 'group'), textAt(spec, 'names', 'plural'), textAt(spec, 'names', 'kind')];
  const versions = entriesAt(spec, 'versions').filter(({ served }) => served === true);
  const version = textAt(versions.find(({ storage }) => storage === true) ?? versions[0], 'name');
  if (group === undefined || plural === undefined || kind === undefined || version === undefined) return undefined;
  // These become part of a path.
  if (![group, plural, version].every((text) => /^[a-z0-9][a-z0-9.-]{0,252}$/.test(text))) return undefined;
  return { group, version, plural, kind, namespaced: textAt(spec, 'scope') === 'Namespaced' };
}

/** Returns the kinds of these CRDs, as far as they exist, as the shoot serves them, whatever release installed them. */
export async function servedKinds(shoot: KubeClient, crds: string[]): Promise<Resource[]> {
  const found = await inParallel(crds, async (name) => {
    const crd = await shoot.find(resources.customResourceDefinitions, { name });
    // Not kept: all of them together may be too large.
    return crd && servedKind(crd);
  });
  return found.filter((kind) => kind !== undefined);
}

/** Returns the resource of an object, in the object's own version. */
export function resourceOf({ apiVersion, kind }: KubeObject, kinds: Record<string, Resource>): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const known = kinds[typeOf({ group, kind })];
  if (known === undefined) throw new Error(`${kind} in ${apiVersion} is no kind of Flux or of Kubernetes that we know`);
  return { ...known, version };
}

/** The resource-manager writes it to every object: the ManagedResource that it comes from, after the seed's identity. */
const ORIGIN_ANNOTATION = 'resources.gardener.cloud/origin';

const names: string[] = Object.values(managedResourceNames);

/**
 * True for an object in the shoot that the resource-manager has applied for us, or that we have changed. One without
 * this mark has been replaced by a user since it was recorded, and is never deleted.
 */
export function carriesOurMark({ metadata }: KubeObject): boolean {
  if (metadata.managedFields?.some(({ manager }) => manager === fieldManager)) return true;
  const origin = metadata.annotations?.[ORIGIN_ANNOTATION];
  return origin !== undefined && names.includes(origin.slice(origin.lastIndexOf('/') + 1));
}

/** Of the resource-manager itself, or ours: these steer nothing that matters to an object that leaves. */
const harmless = [
  'resources.gardener.cloud/description',
  'resources.gardener.cloud/origin',
  'resources.gardener.cloud/skip-health-check',
];

/**
 * True for an annotation or label that makes the resource-manager treat an object differently. With `ignore` or a `mode`
 * it would never write the suspension of an object that leaves, and delete it all the same.
 */
function isSteering(key: string): boolean {
  return /^(?:[^/]*\.)?gardener\.cloud\//.test(key) && !harmless.includes(key);
}

/** Returns the object without the keys that steer the resource-manager. */
export function withoutSteeringKeys(object: KubeObject): KubeObject {
  const { annotations, labels } = object.metadata;
  const kept = {
    ...(annotations && { annotations: withoutKeys(annotations) }),
    ...(labels && { labels: withoutKeys(labels) }),
  };
  return { ...object, metadata: { ...object.metadata, ...kept } };
}

/** Returns the merge patch that removes these keys from a live object; undefined when it has none. */
export function steeringKeysPatch({ metadata }: KubeObject): Record<string, unknown> | undefined {
  const removed = { annotations: nulls(metadata.annotations), labels: nulls(metadata.labels) };
  const parts = Object.entries(removed).filter(([, part]) => Object.keys(part).length > 0);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

function withoutKeys(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isSteering(key)));
}

function nulls(map: Record<string, string> = {}): Record<string, null> {
  const keys = Object.keys(map).filter((key) => isSteering(key));
  return Object.fromEntries(keys.map((key) => [key, null]));
}
