import { NAMESPACE } from '../../../infra/webhooks/names.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { webhookIdentities } from '../../scenarios/identities.ts';
import { renderChart } from './helm.ts';

const kinds = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/**
 * Renders the rights of the chart with an identity for each function, under the names that the tests' tokens have: every
 * suite that passes with them shows that the chart grants enough, and a rule that no suite needs is reported. The
 * webhooks run in a process of their own.
 */
export async function chartRights(): Promise<KubeObject[]> {
  // In the chart these two are the ServiceAccount of the Pods.
  const subjects = ['watcher', 'heartbeat'].map((name) => ({
    kind: 'ServiceAccount',
    namespace: NAMESPACE,
    name: `shoot-flux-${name}`,
  }));
  const values = { mode: 'bridge-sqs', sqs: { queuePrefix: 'shoot-flux-' }, rbac: { subjects } };
  const objects = await renderChart({ namespace: NAMESPACE, values });
  const others = await webhookIdentities();
  const counts = ({ kind, metadata: { name } }: KubeObject) =>
    kinds.includes(kind) && !others.some((identity) => name.endsWith(`:${identity}`));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return [namespace, ...objects.filter(counts)];
}
