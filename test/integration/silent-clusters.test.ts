import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProber } from '../../infra/process/cluster-prober.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { Connection } from '../../shared/kube/connection.ts';
import { tokenFile } from '../../shared/kube/connection.ts';
import { ClusterDownError, UnreachableError } from '../../shared/kube/errors.ts';
import type { KubeClientOptions } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type ClusterHealth, createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { createClusters } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { startTcpProxy } from '../tcp-proxy.ts';

const never = new AbortController().signal;
const { configMaps } = resources;
let api: Awaited<ReturnType<typeof startKubeApi>>;

beforeAll(async () => {
  api = await startKubeApi();
  api.objects.ensureNamespace('foo');
});

afterAll(() => api.stop());

/** A process with clients for `local` behind a proxy and for `healthy`, optionally with a prober. */
async function processWith({ prober = true, ...options }: KubeClientOptions & { prober?: boolean } = {}) {
  const proxy = await startTcpProxy(api.url);
  const health = createClusterHealth({ suspiciousMs: 200, probeMs: [100, 100] });
  const connection = { ca: api.ca, token: api.token };
  const clusters = createClusters(
    async (cluster) => ({ ...connection, server: cluster === 'local' ? proxy.url : api.url }),
    { timeoutMs: 4000, connectTimeoutMs: 300, ...options },
    health,
  );
  const heard: string[] = [];
  health.onChange((cluster, isUp) => heard.push(`${cluster} ${isUp ? 'up' : 'down'}`));
  const gauges: string[] = [];
  const gauge = (name: string, value: number, labels = {}) => gauges.push(`${name} ${JSON.stringify(labels)} ${value}`);
  const log: string[] = [];
  const probing =
    prober &&
    startProber({
      ...{ health, clusters: ['local'], metrics: { ...noMetrics, gauge }, pauseMs: [50, 100] },
      log: createLog('info', (line) => log.push(line)),
      kube: clusters,
    });
  const list = async (cluster = 'local') => (await clusters(cluster)).list(configMaps, { namespace: 'foo' });
  return {
    ...{ proxy, health, clusters, heard, gauges, log, list },
    async [Symbol.asyncDispose]() {
      if (probing) await probing.stop();
      for (const cluster of ['local', 'healthy']) (await clusters(cluster)).close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

test('a cluster that swallows packets is known long before the time limit, and calls to it then fail at once', async () => {
  await using here = await processWith({ timeoutMs: 60_000 });
  await here.list();
  here.proxy.behave('swallow');
  const waiting = Array.from({ length: 10 }, () => here.list());
  const ended = await Promise.allSettled(waiting);
  for (const { status, reason } of ended as PromiseRejectedResult[]) {
    expect(status).toBe('rejected');
    expect(reason).toBeInstanceOf(UnreachableError);
  }
  await expect.poll(() => here.health.isUp('local')).toBe(false);
  await expect(here.list()).rejects.toThrow(ClusterDownError);
  await expect(here.list()).rejects.toThrow(/seed local has not answered since .* \(ConnectTimeout\)/);
  await expect(here.list('healthy')).resolves.toMatchObject({ items: expect.any(Array) });
  expect(here.health.isUp('healthy')).toBe(true);
});

test('a cluster is used again as soon as it answers, over new connections', async () => {
  await using here = await processWith({ timeoutMs: 60_000 });
  await Promise.all([here.list(), here.list(), here.list()]);
  here.proxy.behave('swallow');
  await here.list().catch(() => {});
  await expect.poll(() => here.health.isUp('local')).toBe(false);
  here.proxy.behave('forward');
  await here.health.untilUp('local', never);
  // The pooled connections are dead; each would hold a call until its time limit of a minute.
  await Promise.all([here.list(), here.list(), here.list()]);
  expect(here.heard).toEqual(['local down', 'local up']);
  expect(here.log.map((line) => JSON.parse(line).message)).toEqual(['cluster down', 'cluster up']);
  expect(JSON.parse(here.log[0] ?? '')).toMatchObject({ cluster: 'local', since: expect.any(String) });
  expect(here.gauges).toEqual([1, 0, 1].map((value) => `cluster_up {"cluster":"local"} ${value}`));
});

test('without a prober, as on Lambda, calls to a cluster that is down fail at once until one of them is the probe', async () => {
  await using here = await processWith({ prober: false });
  await here.list();
  here.proxy.behave('swallow');
  for (let call = 0; call < 3; call++) await expect(here.list()).rejects.toThrow(UnreachableError);
  await expect(here.list()).rejects.toThrow(ClusterDownError);
  expect(here.health.isUp('local')).toBe(false);
  here.proxy.behave('forward');
  const answers = () =>
    here.list().then(
      () => true,
      () => false,
    );
  await expect.poll(answers).toBe(true);
});

test('a watch ends when its cluster goes down, instead of staying silent', async () => {
  await using here = await processWith();
  const client = await here.clusters('local');
  const { resourceVersion } = await client.list(configMaps, { namespace: 'foo' });
  const events = client.watch(configMaps, { resourceVersion, timeoutSeconds: 300, signal: never });
  const watching = (async () => {
    for await (const _ of events);
  })();
  const outcome = watching.then(
    () => 'ended',
    (error: unknown) => error,
  );
  await expect.poll(() => api.watches('configmaps').length).toBe(1);
  here.proxy.behave('swallow');
  await here.list().catch(() => {});
  expect(await outcome).toBeInstanceOf(ClusterDownError);
});

test.each([
  ['accepts connections and never finishes TLS', 'swallow', 'ConnectTimeout'],
  ['resets connections', 'refuse', 'ECONNRESET'],
] as const)(
  'a create to a server that %s fails within the connect time limit, and sends nothing',
  async (_, how, reason) => {
    await using here = await processWith({ prober: false, timeoutMs: 60_000 });
    here.proxy.behave(how);
    const client = await here.clusters('local');
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'foo', name: `never-${how}` } };
    await expect(client.create(configMaps, object, { fieldManager: 'test' })).rejects.toMatchObject({ reason });
    expect(api.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  },
);

/** Clients whose credentials the test replaces, and how often they were read. */
function rotating(connection: Connection, health?: ClusterHealth) {
  const state = { connection, reads: 0 };
  const credentials = async () => {
    state.reads++;
    return state.connection;
  };
  const clusters = createClusters(credentials, {}, health);
  const list = async () => (await clusters('local')).list(configMaps, { namespace: 'foo' });
  return { state, clusters, list, close: async () => (await clusters('local')).close() };
}

test.each<[string, Partial<Connection>, string]>([
  ['another authority', { ca: undefined }, 'no answer from'],
  ['an address that refuses', { server: 'https://127.0.0.1:1' }, 'ECONNREFUSED'],
  ['a name that does not resolve', { server: 'https://name.invalid' }, 'no answer from'],
  ['a former server name', { serverName: 'former.example.com' }, 'no answer from'],
  ['a key of which only half was written', { cert: 'none', key: '-----BEGIN PRIVATE KEY-----\nMIGH' }, 'ERR_OSSL_'],
  ['a token with a line break', { token: 'one\ntwo' }, 'ERR_INVALID_CHAR'],
  ['a token file that is gone', { token: tokenFile('/nowhere/token') }, 'cannot read token file /nowhere/token'],
])('%s makes the next call read the credentials again, without a restart', async (_, outdated, sentence) => {
  const good = { server: api.url, ca: api.ca, token: api.token };
  const { state, list, close } = rotating({ ...good, ...outdated });
  const failed = list();
  await expect(failed).rejects.toBeInstanceOf(ShootFluxError);
  await expect(failed).rejects.toThrow(sentence);
  state.connection = good;
  await expect(list()).resolves.toMatchObject({ items: expect.any(Array) });
  expect(state.reads).toBe(2);
  await close();
});

test('finds a moved address also when the cluster has been down for a while', async () => {
  const health = createClusterHealth();
  const { state, clusters, list, close } = rotating({ server: 'https://127.0.0.1:1', ca: api.ca }, health);
  const prober = startProber({
    ...{ health, clusters: ['local'], metrics: noMetrics, pauseMs: [50, 50], log: createLog('error', () => {}) },
    kube: clusters,
  });
  await expect(list()).rejects.toBeInstanceOf(UnreachableError);
  // Its credentials have been read again in vain, and no call is sent any more.
  await expect.poll(() => [health.isUp('local'), state.reads]).toEqual([false, 2]);
  state.connection = { server: api.url, ca: api.ca, token: api.token };
  await expect.poll(() => health.isUp('local')).toBe(true);
  await expect(list()).resolves.toBeDefined();
  await prober.stop();
  await close();
});

test('a watch that finds no connection makes the next call read the credentials again', async () => {
  const { state, clusters, list, close } = rotating({ server: api.url, ca: api.ca, serverName: 'x', token: api.token });
  const watch = async () => {
    const client = await clusters('local');
    for await (const _ of client.watch(configMaps, { resourceVersion: '1', timeoutSeconds: 300, signal: never }));
  };
  await expect(watch()).rejects.toBeInstanceOf(UnreachableError);
  state.connection = { server: api.url, ca: api.ca, token: api.token };
  await expect(list()).resolves.toBeDefined();
  await close();
});

test('keeps its client, with its connections, while the credentials stay the same, and seldom reads them', async () => {
  const { state, clusters, list, close } = rotating({ server: 'https://127.0.0.1:1' });
  const client = await clusters('local');
  for (let call = 0; call < 20; call++) await list().catch(() => {});
  expect(state.reads).toBe(2);
  expect(await clusters('local')).toBe(client);
  await close();
});
