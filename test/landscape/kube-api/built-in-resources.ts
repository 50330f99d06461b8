/** A resource that every API server serves, as discovery describes it. */
export interface BuiltInResource {
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  /** Has `/status`; writes to the object itself then ignore the status. */
  status: boolean;
  /** Carries `metadata.generation`. */
  generation: boolean;
}

interface Traits {
  namespaced?: boolean;
  status?: boolean;
  generation?: boolean;
}

const pluralOf = (kind: string): string => {
  const lower = kind.toLowerCase();
  if (lower.endsWith('s')) return lower.endsWith('ss') ? `${lower}es` : lower;
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
};

const resource = (group: string, version: string, kind: string, traits: Traits = {}): BuiltInResource => ({
  group,
  version,
  kind,
  plural: pluralOf(kind),
  namespaced: traits.namespaced ?? true,
  status: traits.status ?? false,
  generation: traits.generation ?? false,
});

const cluster = { namespaced: false };
const status = { status: true };
const workload = { status: true, generation: true };

/** The built-in resources that the embedded API serves; others can be added as CRDs. */
export const builtInResources: readonly BuiltInResource[] = [
  resource('', 'v1', 'Namespace', { ...cluster, ...status }),
  resource('', 'v1', 'Secret'),
  resource('', 'v1', 'ConfigMap'),
  resource('', 'v1', 'Service', status),
  resource('', 'v1', 'ServiceAccount'),
  resource('', 'v1', 'Event'),
  resource('', 'v1', 'Pod', workload),
  resource('', 'v1', 'ResourceQuota', status),
  resource('', 'v1', 'PersistentVolumeClaim', status),
  resource('apps', 'v1', 'Deployment', workload),
  resource('apps', 'v1', 'DaemonSet', workload),
  resource('apps', 'v1', 'StatefulSet', workload),
  resource('batch', 'v1', 'Job', workload),
  resource('batch', 'v1', 'CronJob', workload),
  resource('networking.k8s.io', 'v1', 'NetworkPolicy', { generation: true }),
  resource('networking.k8s.io', 'v1', 'Ingress', workload),
  resource('rbac.authorization.k8s.io', 'v1', 'Role'),
  resource('rbac.authorization.k8s.io', 'v1', 'RoleBinding'),
  resource('rbac.authorization.k8s.io', 'v1', 'ClusterRole', cluster),
  resource('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', cluster),
  resource('coordination.k8s.io', 'v1', 'Lease'),
  resource('admissionregistration.k8s.io', 'v1', 'MutatingWebhookConfiguration', { ...cluster, generation: true }),
  resource('admissionregistration.k8s.io', 'v1', 'ValidatingWebhookConfiguration', { ...cluster, generation: true }),
  resource('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', { ...cluster, ...workload }),
];
