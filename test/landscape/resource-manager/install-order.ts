import type { KubeObject } from '../client/client.ts';

/** Helm's install order (rule 3.4); kinds that are not listed come last. */
const order = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];

const rank = new Map(order.map((kind, index) => [kind, index]));

/** Returns the objects in install order; alphabetically among equals. */
export function inInstallOrder<T extends { object: KubeObject }>(entries: readonly T[]): T[] {
  const rankOf = ({ kind }: KubeObject) => rank.get(kind) ?? order.length;
  return [...entries].sort(
    ({ object: a }, { object: b }) =>
      rankOf(a) - rankOf(b) || compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name),
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
