import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyObjects, RUN_USER, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { CERTIFICATES, NAMESPACE } from '../../infra/webhooks/names.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shippedRbac } from '../scenarios/identities.ts';
import { eventually } from '../scenarios/stage.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';
import { requestJson } from './cluster/request.ts';

const PROJECT = 'garden-foo';
const users = [serviceAccountUser('keys'), serviceAccountUser('webhooks'), RUN_USER, 'person'];
const tokenOf = (user: string) => `token-${users.indexOf(user)}`;

let etcd: Etcd;
let server: ApiServer;

beforeAll(async () => {
  etcd = await startEtcd();
  const tokens = users.map((user) => ({ token: tokenOf(user), user, uid: user }));
  server = await startApiServer({ etcd, prefix: 'garden', tokens });
  const rbac = await shippedRbac('garden');
  for (const object of [...rbac, namespace(PROJECT), ...bindings(rbac), ...policyObjects()]) await apply(object);
  // The server loads roles and policies within seconds.
  for (const user of [RUN_USER, serviceAccountUser('keys')]) {
    await eventually(
      'the policy is enforced',
      () => create(user, secret('other')).then(String, (error: Error) => error.message),
      (message) => message.includes('may create only Secret flux-source'),
      (message) => message,
      60,
    );
  }
});

afterAll(async () => {
  await server?.stop();
  await etcd?.stop();
});

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

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

function secret(name: string, rest: object = {}, inNamespace = PROJECT): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: inNamespace, name }, ...rest };
}

async function apply(object: KubeObject): Promise<void> {
  const { namespace: inNamespace, name } = object.metadata;
  const folder = object.apiVersion === 'v1' ? '/api/v1' : `/apis/${object.apiVersion}`;
  const scope = inNamespace === undefined ? '' : `/namespaces/${inNamespace}`;
  const plural = object.kind.toLowerCase().replace(/y$/, 'ie');
  await requestJson(server, 'PATCH', `${folder}${scope}/${plural}s/${name}?fieldManager=test`, object);
}

/** Creates without storing anything, as the same checks apply to a dry run. */
function create(user: string, object: KubeObject): Promise<unknown> {
  const path = `/api/v1/namespaces/${object.metadata.namespace}/secrets?dryRun=All`;
  return requestJson({ ...server, adminToken: tokenOf(user) }, 'POST', path, object);
}

const ours = [serviceAccountUser('keys'), RUN_USER];

test.each(ours)('%s creates the Secret flux-source in a project', async (user) => {
  await expect(create(user, secret('flux-source', { type: 'Opaque' }))).resolves.toMatchObject({ kind: 'Secret' });
});

test.each(
  ours.flatMap(
    (user) =>
      [
        [user, 'another name', secret('other'), 'may create only Secret flux-source'],
        [
          user,
          'a generated name',
          { ...secret(''), metadata: { namespace: PROJECT, generateName: 'flux-source-' } },
          'may create only Secret flux-source',
        ],
        [user, 'the certificates elsewhere', secret(CERTIFICATES), 'may create only Secret flux-source'],
        [
          user,
          'the token of a ServiceAccount',
          {
            ...secret('flux-source', { type: 'kubernetes.io/service-account-token' }),
            metadata: {
              ...{ namespace: PROJECT, name: 'flux-source' },
              annotations: { 'kubernetes.io/service-account.name': 'default' },
            },
          },
          'may create only Secrets of type Opaque',
        ],
        [
          user,
          'a bootstrap token',
          secret('bootstrap-token-abcdef', { type: 'bootstrap.kubernetes.io/token' }, 'kube-system'),
          'shoot-flux may create only',
        ],
      ] as [string, string, KubeObject, string][],
  ),
)('a real API server refuses %s a Secret with %s', async (user, _, object, message) => {
  await expect(create(user, object)).rejects.toThrow(message);
});

test('the certificates of the webhooks are created in their namespace, and nothing else there', async () => {
  const user = serviceAccountUser('webhooks');
  const certificates = secret(CERTIFICATES, { type: 'Opaque' }, NAMESPACE);
  await expect(create(user, certificates)).resolves.toMatchObject({ kind: 'Secret' });
  await expect(create(user, secret('other', {}, NAMESPACE))).rejects.toThrow('may create only Secret flux-source');
});

test('other users are not restricted', async () => {
  await expect(create('person', secret('other'))).resolves.toMatchObject({ kind: 'Secret' });
});
