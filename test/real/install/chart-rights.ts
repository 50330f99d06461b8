import { NAMESPACE } from '../../../infra/webhooks/names.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Place, webhookIdentities } from '../../scenarios/identities.ts';
import { renderChart } from './helm.ts';

const rbac = 'rbac.authorization.k8s.io';
const kinds = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/**
 * Renders the rights of the charts with an identity for each function, under the names that the tests' tokens have: every
 * suite that passes with them shows that the charts grant enough, and a right that no suite needs is reported. The
 * webhooks run in a process of their own.
 */
export async function chartRights(place: Place): Promise<KubeObject[]> {
  const others = await webhookIdentities();
  const objects = place === 'garden' ? await installationRights() : await seedRights();
  const counts = ({ kind, metadata: { name } }: KubeObject) =>
    kinds.includes(kind) && !others.some((identity) => name.endsWith(`:${identity}`));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  return [namespace, ...objects.filter(counts)];
}

const accountOf = (identity: string) => ({ namespace: NAMESPACE, name: `shoot-flux-${identity}` });

async function seedRights(): Promise<KubeObject[]> {
  // In the chart these two are the ServiceAccount of the Pods.
  const subjects = ['watcher', 'heartbeat'].map((name) => ({ kind: 'ServiceAccount', ...accountOf(name) }));
  const values = { mode: 'bridge-sqs', sqs: { queuePrefix: 'shoot-flux-' }, rbac: { subjects } };
  return renderChart({ namespace: NAMESPACE, values });
}

/** Renders the rights of installations in the garden: what gardener-operator applies, or the registration contains. */
export async function installationRoles(): Promise<KubeObject[]> {
  const values = { gardenRights: { enabled: true } };
  const chart = 'shoot-flux-admission/charts/application';
  const objects = await renderChart({ chart, namespace: 'kube-system', values });
  return objects.filter(
    ({ kind, metadata: { name } }) => name.includes(':installation:') || kind.startsWith('ValidatingAdmissionPolicy'),
  );
}

/** Renders the rights of installations in the garden, and binds each role to an account of its own. */
async function installationRights(): Promise<KubeObject[]> {
  const rendered = await installationRoles();
  const roles = rendered.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata: { name } }) => name);
  return [...rendered, ...roles.flatMap((role) => bound(role, accountOf(role.split(':').at(-1) ?? '')))];
}

function bound(role: string, account: { namespace: string; name: string }): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
}
