import type { Applied } from '../../shared/gardener/types.ts';
import type { ObjectName, Resource } from '../../shared/kube/resource.ts';

/** One object of the record. */
export interface Target extends ObjectName {
  resource: Resource;
}

/** What is to be removed from a shoot, from the record alone: the ManagedResources may be gone already. */
export interface Targets {
  deployments: Target[];
  /** Names of CustomResourceDefinitions, `plural.group`. */
  crds: string[];
  /** Everything else but Namespaces and objects of Flux's own kinds, which go with their CRDs. */
  others: Target[];
}

/** Kinds that Flux's releases and our copies consist of, by `Kind.group`. */
const known: Record<string, Resource> = Object.fromEntries(
  [
    ['', 'v1', 'services', 'Service', true],
    ['', 'v1', 'serviceaccounts', 'ServiceAccount', true],
    ['', 'v1', 'secrets', 'Secret', true],
    ['', 'v1', 'configmaps', 'ConfigMap', true],
    ['', 'v1', 'resourcequotas', 'ResourceQuota', true],
    ['apps', 'v1', 'deployments', 'Deployment', true],
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

/** Pure: sorts the recorded objects by how they are removed. */
export function targetsOf(applied: Applied): Targets {
  const targets: Targets = { deployments: [], crds: [], others: [] };
  for (const ref of Object.values(applied.objects).flat()) {
    const [type = '', namespace = '', name = ''] = ref.split('/');
    const resource = known[type];
    if (type === 'CustomResourceDefinition.apiextensions.k8s.io') targets.crds.push(name);
    else if (type === 'Deployment.apps' && resource) targets.deployments.push({ resource, namespace, name });
    else if (resource !== undefined) targets.others.push({ resource, ...(namespace && { namespace }), name });
  }
  return targets;
}
