import { isCrd } from '../../shared/flux/custom-resources.ts';
import type { Release } from '../../shared/flux/release.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';

/** Kubernetes' own kinds that Flux's releases and our copies consist of, by `Kind.group`. */
export const builtInKinds: Record<string, Resource> = Object.fromEntries(
  [
    ['', 'v1', 'namespaces', 'Namespace', false],
    ['', 'v1', 'services', 'Service', true],
    ['', 'v1', 'serviceaccounts', 'ServiceAccount', true],
    ['', 'v1', 'secrets', 'Secret', true],
    ['', 'v1', 'configmaps', 'ConfigMap', true],
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

/** How a shoot serves the kinds of a release, by `Kind.group`: the built-in ones, and those of the release's CRDs. */
export function kindsOf(release: Release): Record<string, Resource> {
  const kinds = { ...builtInKinds };
  for (const object of [...release.files.values()].flat()) {
    const kind = isCrd(object) ? servedKind(object) : undefined;
    if (kind !== undefined) kinds[`${kind.kind}.${kind.group}`] = kind;
  }
  return kinds;
}

/** The kind of a CustomResourceDefinition, in the version that it stores, or else in one that it serves. */
export function servedKind({ spec }: KubeObject): Resource | undefined {
  const { group, names, scope, versions } = spec as CrdSpec;
  const version = versions.find(({ served, storage }) => served && storage) ?? versions.find(({ served }) => served);
  return version && { group, version: version.name, ...names, namespaced: scope === 'Namespaced' };
}

interface CrdSpec {
  group: string;
  names: { plural: string; kind: string };
  scope: string;
  versions: { name: string; served: boolean; storage: boolean }[];
}

/** Where an object is served: its own version of its kind. */
export function resourceOf({ apiVersion, kind }: KubeObject, kinds: Record<string, Resource>): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const known = kinds[group === '' ? kind : `${kind}.${group}`];
  if (known === undefined) throw new Error(`${kind} in ${apiVersion} is no kind of Flux or of Kubernetes that we know`);
  return { ...known, version };
}
