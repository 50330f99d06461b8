import { expect, test } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import { createKubeClient } from '../kube/http-client.ts';
import { resources } from '../kube/resource.ts';
import { kubeconfigOf, sendJson, startTlsServer, statusBody, type TestServer } from '../kube/testing.ts';
import type { Settings } from '../runtime/context.ts';
import { createLog } from '../runtime/log.ts';
import { withShoot } from './shoot-client.ts';

const namespace = 'shoot--foo--bar';

const runOf = (
  seed: KubeClient,
  shootAccess: 'internal' | 'external' = 'external',
  signal = new AbortController().signal,
) => ({ seed, namespace, context: { settings: { shootAccess } as Settings, signal, log: createLog('error') } });
const listNamespaces = (shoot: KubeClient) => shoot.list(resources.namespaces);

/** A seed whose control plane has these Secrets; each leads to the shoot by a token of the Secret's own name. */
async function seedWith(secrets: string[], shoot: TestServer) {
  const server = await startTlsServer(({ url }, response) => {
    const name = url.pathname.split('/').at(-1) ?? '';
    if (!secrets.includes(name)) return sendJson(response, 404, statusBody(404, 'NotFound', 'no'));
    const cluster = { server: shoot.connection.server, 'insecure-skip-tls-verify': true };
    const kubeconfig = JSON.stringify(kubeconfigOf({ token: name }, cluster));
    sendJson(response, 200, { metadata: { name }, data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') } });
  });
  return server;
}

test.each([
  ['internal', ['gardener', 'gardener-internal'], 'gardener-internal'],
  ['external', ['gardener', 'gardener-internal'], 'gardener'],
  ['internal', ['gardener'], 'gardener'],
  ['external', ['gardener-internal'], 'gardener-internal'],
  ['internal', [], undefined],
] as const)('%s access with Secrets %j uses %s', async (access, secrets, used) => {
  await using shoot = await startTlsServer((_, response) => sendJson(response, 200, { metadata: {} }));
  await using server = await seedWith([...secrets], shoot);
  const seed = createKubeClient(server.connection);
  const listed = await withShoot(runOf(seed, access), listNamespaces);
  expect(listed !== undefined).toBe(used !== undefined);
  expect(shoot.requests.map(({ headers }) => headers.authorization)).toEqual(used ? [`Bearer ${used}`] : []);
  seed.close();
});

test.each([
  [[], 'seed'],
  [['gardener'], 'gardener'],
])('in a self-hosted Shoot with Secrets %j, the %s is asked', async (secrets, asked) => {
  await using shoot = await startTlsServer((_, response) => sendJson(response, 200, { metadata: {} }));
  await using server = await seedWith(secrets, shoot);
  const seed = createKubeClient(server.connection);
  const used = await withShoot({ ...runOf(seed), namespace: 'kube-system' }, async (client) => client === seed);
  expect(used).toBe(asked === 'seed');
  seed.close();
});

test('stops with the signal of the run', async () => {
  await using shoot = await startTlsServer(() => {});
  await using server = await seedWith(['gardener'], shoot);
  const seed = createKubeClient(server.connection);
  const run = new AbortController();
  await withShoot(runOf(seed, 'external', run.signal), async (client) => {
    const call = listNamespaces(client);
    run.abort();
    await expect(call).rejects.toThrow('before the time limit of this run');
    await expect(listNamespaces(client)).rejects.toThrow('before the time limit of this run');
  });
  seed.close();
});
