import { beforeAll, expect, test } from 'vitest';
import { policyObjects, RUN_USER, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { CERTIFICATES, NAMESPACE } from '../../infra/webhooks/names.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shippedRbac } from '../scenarios/identities.ts';
import { eventually, PROJECT } from '../scenarios/stage.ts';
import { requestJson } from './cluster/request.ts';
import { applyObjects, namespaceOf } from './install/objects.ts';
import { useApiServers } from './on-real-apis.ts';

const keys = serviceAccountUser('keys');
const webhooks = serviceAccountUser('webhooks');
const users = [keys, webhooks, RUN_USER, 'person'];
const tokenOf = (user: string) => `token-${users.indexOf(user)}`;

const used = useApiServers({ garden: { tokens: users.map((user) => ({ token: tokenOf(user), user, uid: user })) } });

const ONLY = 'may create only Secrets flux-source and flux-push';

beforeAll(async () => {
  const rbac = await shippedRbac('garden');
  await applyObjects(used.servers.garden, [...rbac, namespaceOf(PROJECT), ...bindings(rbac), ...policyObjects()]);
  // The server loads roles and policies within seconds.
  for (const user of [RUN_USER, keys]) {
    const tryOut = () => create(user, secret('other')).then(String, (error: Error) => error.message);
    await eventually('the policy is enforced', tryOut, (message) => message.includes(ONLY));
  }
});

/** All roles for the single identity of `run`, and the rights of an administrator for a person. */
function bindings(rbac: KubeObject[]): KubeObject[] {
  const rbacGroup = 'rbac.authorization.k8s.io';
  const binding = (role: string, user: string): KubeObject => ({
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${user}:${role}` },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: rbacGroup, name: user }],
  });
  const roles = rbac.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
  return [...roles.map((role) => binding(role, RUN_USER)), binding('cluster-admin', 'person')];
}

function secret(name: string, type = 'Opaque', namespace = PROJECT, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', type, metadata: { namespace, name, ...metadata } };
}

/** Creates without storing anything, as the same checks apply to a dry run. */
function create(user: string, object: KubeObject): Promise<unknown> {
  const path = `/api/v1/namespaces/${object.metadata.namespace}/secrets?dryRun=All`;
  return requestJson({ ...used.servers.garden, adminToken: tokenOf(user) }, 'POST', path, object);
}

test.each([
  [keys, 'flux-source in a project', secret('flux-source')],
  [RUN_USER, 'flux-source in a project', secret('flux-source')],
  [keys, 'flux-push in a project', secret('flux-push')],
  [webhooks, 'the certificates in their namespace', secret(CERTIFICATES, 'Opaque', NAMESPACE)],
  ['person', 'any, because other users are not restricted', secret('other')],
])('a real API server lets %s create Secret %s', async (user, _, object) => {
  await expect(create(user, object)).resolves.toMatchObject({ kind: 'Secret' });
});

const accountToken = 'kubernetes.io/service-account-token';
const ofAccount = { annotations: { 'kubernetes.io/service-account.name': 'default' } };
const refused: [string, KubeObject, string][] = [
  ['another name', secret('other'), ONLY],
  ['a generated name', secret('', 'Opaque', PROJECT, { generateName: 'flux-source-' }), ONLY],
  ['the certificates elsewhere', secret(CERTIFICATES), ONLY],
  [
    'the token of a ServiceAccount',
    secret('flux-source', accountToken, PROJECT, ofAccount),
    'only Secrets of type Opaque',
  ],
  [
    'a bootstrap token',
    secret('bootstrap-token-abcdef', 'bootstrap.kubernetes.io/token', 'kube-system'),
    'shoot-flux may create only',
  ],
];

test.each([
  ...refused.flatMap((row) => [keys, RUN_USER].map((user) => [user, ...row] as const)),
  [webhooks, 'another name in their namespace', secret('other', 'Opaque', NAMESPACE), ONLY] as const,
])('a real API server refuses %s a Secret with %s', async (user, _, object, message) => {
  await expect(create(user, object)).rejects.toThrow(message);
});
