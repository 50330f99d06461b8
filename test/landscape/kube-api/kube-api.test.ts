import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { ConformanceClient } from '../conformance/client.ts';
import { configMap, crd } from '../conformance/context.ts';
import { type KubeApi, type KubeApiOptions, startKubeApi } from './kube-api.ts';

/** What an API server does on demand, and a real one does not. */

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(options: KubeApiOptions = {}): Promise<{ api: KubeApi; client: ConformanceClient }> {
  const api = await startKubeApi(options);
  const client = new ConformanceClient(api);
  cleanups.push(
    () => client.close(),
    () => api.stop(),
  );
  return { api, client };
}

const path = '/api/v1/namespaces/default/configmaps';
const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };

test('a fault answers one request with a status and Retry-After', async () => {
  const { api, client } = await start();
  api.faults.add({ match: { method: 'GET', path: /configmaps/ }, action: 'status', status: 429, retryAfterSeconds: 7 });
  expect(await client.get('/api/v1/namespaces')).toMatchObject({ code: 200 });
  expect(await client.get(path)).toMatchObject({
    code: 429,
    headers: { 'retry-after': '7' },
    body: { kind: 'Status', reason: 'TooManyRequests' },
  });
  expect(await client.get(path)).toMatchObject({ code: 200 });
});

test('a fault breaks the connection before or after the request, or never answers it', async () => {
  const { api, client } = await start();
  api.faults.add({ match: { verb: 'create' }, action: 'reset' });
  await expect(client.post(path, configMap('a'))).rejects.toThrow();
  expect(api.objects.find(reference)).toBeUndefined();
  api.faults.add({ match: { verb: 'create' }, action: 'reset', after: true });
  await expect(client.post(path, configMap('a'))).rejects.toThrow();
  expect(api.objects.delete(reference)).toBe(true);
  api.faults.add({ match: { verb: 'create' }, action: 'hang', after: true });
  void client.post(path, configMap('a')).catch(() => {});
  await expect.poll(() => api.objects.find(reference)).toBeDefined();
  expect(api.requestsLike({ verb: 'create' }).at(-1)).toMatchObject({ status: 0 });
});

test('a fault delays the requests of a user agent until it is disarmed', async () => {
  const { api, client } = await start();
  // Longer than the test may take: only requests without delay are answered.
  const disarm = api.faults.add({ match: { userAgent: /^slow/ }, action: 'latency', ms: 3_600_000, times: 99 });
  expect(await client.get(path, { userAgent: 'fast/1' })).toMatchObject({ code: 200 });
  disarm();
  api.faults.add({ match: { userAgent: /^slow/ }, action: 'latency', ms: 100 });
  const begun = performance.now();
  expect(await client.get(path, { userAgent: 'slow/1' })).toMatchObject({ code: 200 });
  expect(performance.now() - begun).toBeGreaterThan(95);
});

test('watches are closed, silenced, and expired', async () => {
  const { api, client } = await start();
  using closed = client.watch(path);
  using expired = client.watch(path);
  using silent = client.watch(path);
  using witness = client.watch(path);
  await expect.poll(() => api.watches('configmaps')).toHaveLength(4);
  const [one, two, three] = api.watches('configmaps');
  one?.close();
  two?.expire();
  three?.silence();
  expect(await closed.rest()).toEqual([]);
  expect(await expired.rest()).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  api.objects.create(reference);
  // The witness is served after the silent watch.
  expect(await witness.next()).toMatchObject({ type: 'ADDED' });
  await expect(silent.next(200)).rejects.toThrow('no event');
});

test('after a compaction, old watches and continue tokens are answered with 410', async () => {
  const { api, client } = await start();
  for (const name of ['a', 'b', 'c']) api.objects.create({ ...reference, metadata: { name } });
  const { metadata } = (await client.get(path, { query: { limit: '1' } })).body;
  api.objects.create({ ...reference, metadata: { name: 'd' } });
  api.compact();
  using watch = client.watch(path, { resourceVersion: metadata.resourceVersion });
  expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  const gone = await client.get(path, { query: { limit: '1', continue: metadata.continue } });
  expect(gone).toMatchObject({ code: 410, body: { reason: 'Expired' } });
  // The token in the answer continues with the current state.
  const next = await client.get(path, { query: { continue: gone.body.metadata.continue } });
  expect(next.body.items).toHaveLength(3);
});

test('a request is carried out after onRequest', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { api, client } = await start({ onRequest: ({ verb }) => (verb === 'create' ? held : undefined) });
  const creating = client.post(path, configMap('a'));
  expect((await client.get(path)).body.items).toEqual([]);
  release();
  expect((await creating).code).toBe(201);
  expect(api.requests.map(({ verb, status }) => [verb, status])).toEqual([
    ['create', 201],
    ['list', 200],
  ]);
});

test('the namespace controller empties and removes a deleted namespace', async () => {
  const { api, client } = await start({ namespaceController: true });
  api.objects.ensureNamespace('n');
  const held = { ...reference, metadata: { name: 'held', namespace: 'n', finalizers: ['example.com/a'] } };
  api.objects.create({ ...reference, metadata: { name: 'free', namespace: 'n' } });
  api.objects.create(held);
  await client.delete('/api/v1/namespaces/n');
  await expect
    .poll(() => api.objects.list('v1', 'ConfigMap', 'n'))
    .toEqual([expect.objectContaining({ metadata: expect.objectContaining({ name: 'held' }) })]);
  api.objects.patch(held, { metadata: { finalizers: null } });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };
  await expect.poll(() => api.objects.find(namespace)).toBeUndefined();
});

test('the same rules apply to objects without HTTP', async () => {
  const definition = crd('example.com', 'Thing', { status: true, scope: 'Namespaced' });
  const { objects } = (await start({ objects: [definition] as never })).api;
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a', namespace: 'default' } };
  await expect
    .poll(() => objects.list('apiextensions.k8s.io/v1', 'CustomResourceDefinition')[0]?.status)
    .toMatchObject({ acceptedNames: { kind: 'Thing' } });
  expect(() => objects.create({ ...thing, spec: {} } as never)).toThrow('spec.size: Required value');
  const created = objects.create({ ...thing, spec: { size: 1 } } as never);
  expect(created).toMatchObject({ spec: { size: 1, mode: 'A' }, metadata: { generation: 1 } });
  expect(objects.patch(thing, { spec: { size: 2 } }).metadata.generation).toBe(2);
  expect(objects.patchStatus(thing, { ready: true }).status).toEqual({ ready: true });
  expect(objects.apply({ ...thing, spec: { size: 3 } } as never).spec).toMatchObject({ size: 3 });
});

test('it stops although a client that was connecting then asks for a watch', async () => {
  const { api } = await start();
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  // The server has taken the connection, and waits for the handshake.
  await sleep(50);
  const stopped = api.stop();
  const client = connectTls({ socket, rejectUnauthorized: false }).on('error', () => {});
  client.write(`GET ${path}?watch=true HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.token}\r\n\r\n`);
  await stopped;
});
