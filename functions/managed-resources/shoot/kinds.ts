import { isCrd } from '../../../shared/flux/custom-resources.ts';
import type { Release } from '../../../shared/flux/release.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';

/** Kubernetes' own kinds in Flux's releases and among our copies, by `Kind.group`. */
export const builtInKinds: Record<string, Resource> = Object.fromEntries(
  [
    ['', 'v1', 'namespaces', 'Namespace', false],
    ['', 'v1', 'services', 'Service', true],
    ['', 'v1', 'serviceaccounts', 'ServiceAccount', true],
    ['', 'v1', 'secrets', 'Secret', true],
    ['', 'v1', 'configmaps', 'ConfigMap', true],
    ['', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', true],
    ['', 'v1', 'resourcequotas', 'ResourceQuota', true],
    ['apps', 'v1', 'deployments', 'Deployment', true],
    ['apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition', false],
    ['networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', true],
    ['rbac.authorization.k8s.io', 'v1', 'roles', 'Role', true],
    ['rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding', true],
    ['rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole', false],
    ['rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false],
  ].map((row) => {
    const [group, version, plural, kind, namespaced] = row as [string, string, string, string, boolean];
    return [group === '' ? kind : `${kind}.${group}`, { group, version, plural, kind, namespaced }];
  }),
);

/** Returns the kinds of a Flux release, by `Kind.group`: the built-in ones and those of its CRDs. */
export function kindsOf(release: Release): Record<string, Resource> {
  const kinds = { ...builtInKinds };
  for (const object of [...release.files.values()].flat()) {
    const kind = isCrd(object) ? servedKind(object) : undefined;
    if (kind !== undefined) kinds[`${kind.kind}.${kind.group}`] = kind;
  }
  return kinds;
}

/** Returns the kind of a CustomResourceDefinition, in the version that it stores, or else in one that it serves. */
export function servedKind({ spec }: KubeObject): Resource | undefined {
  const [group, plural, kind] = [textAt(spec, 'group'), textAt(spec, 'names', 'plural'), textAt(spec, 'names', 'kind')];
  const versions = entriesAt(spec, 'versions').filter(({ served }) => served === true);
  const version = textAt(versions.find(({ storage }) => storage === true) ?? versions[0], 'name');
  if (group === undefined || plural === undefined || kind === undefined || version === undefined) return undefined;
  if (![group, plural, version].every(isPathSegment)) return undefined;
  return { group, version, plural, kind, namespaced: textAt(spec, 'scope') === 'Namespaced' };
}

/** These become part of a path. */
function isPathSegment(text: string): boolean {
  return /^[a-z0-9][a-z0-9.-]{0,252}$/.test(text);
}

/**
 * Returns the kinds of these CustomResourceDefinitions as the shoot serves them, whatever release installed them.
 * @param crds names; a CRD that does not exist has no objects
 */
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
  const known = kinds[group === '' ? kind : `${kind}.${group}`];
  if (known === undefined) throw new Error(`${kind} in ${apiVersion} is no kind of Flux or of Kubernetes that we know`);
  return { ...known, version };
}
