import { expect, test } from 'vitest';
import { createKubeClient } from '../kube/http-client.ts';
import { resources } from '../kube/resource.ts';
import { sendJson, startTlsServer, statusBody, type TestServer } from '../kube/testing.ts';
import { shootClient } from './shoot-client.ts';

const namespace = 'shoot--foo--bar';

/** A seed whose control plane has these Secrets; each leads to the shoot by a token of the Secret's own name. */
async function seedWith(secrets: string[], shoot: TestServer) {
  const server = await startTlsServer(({ url }, response) => {
    const name = url.pathname.split('/').at(-1) ?? '';
    if (!secrets.includes(name)) return sendJson(response, 404, statusBody(404, 'NotFound', 'no'));
    const kubeconfig = JSON.stringify({
      'current-context': 'shoot',
      contexts: [{ name: 'shoot', context: { cluster: 'shoot', user: 'shoot' } }],
      clusters: [{ name: 'shoot', cluster: { server: shoot.connection.server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'shoot', user: { token: name } }],
    });
    sendJson(response, 200, { data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') } });
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
  const client = await shootClient(seed, namespace, access, { signal: new AbortController().signal });
  await client?.list(resources.namespaces);
  expect(shoot.requests.map(({ headers }) => headers.authorization)).toEqual(used ? [`Bearer ${used}`] : []);
  client?.close();
  seed.close();
});

test('what a run has given up goes no further: its signal ends the calls to the shoot', async () => {
  await using shoot = await startTlsServer(() => {});
  await using server = await seedWith(['gardener'], shoot);
  const seed = createKubeClient(server.connection);
  const run = new AbortController();
  const client = await shootClient(seed, namespace, 'external', { signal: run.signal });
  const call = client?.list(resources.namespaces);
  run.abort();
  await expect(call).rejects.toThrow('before the time for this run was over');
  await expect(client?.list(resources.namespaces)).rejects.toThrow('before the time for this run was over');
  client?.close();
  seed.close();
});

test('says which API server does not answer', async () => {
  await using shoot = await startTlsServer((_, response) => void response.destroy());
  await using server = await seedWith(['gardener'], shoot);
  const seed = createKubeClient(server.connection);
  const client = await shootClient(seed, namespace, 'external', { signal: new AbortController().signal });
  const { host } = new URL(shoot.connection.server);
  await expect(client?.list(resources.namespaces)).rejects.toThrow(`no answer from the shoot (${host}, `);
  client?.close();
  seed.close();
});
