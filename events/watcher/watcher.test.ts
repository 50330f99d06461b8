import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { extension, on, onExtensions, quick, refuse, startListWatch, until, watching } from './testing.ts';

const { clusters, configMaps, extensions, secrets } = resources;

/** Waits a few debounce times, after which every change is sent. */
const settled = () => wait(60);

test('shares one list and watch among subscriptions to the same objects', async () => {
  await using api = await startListWatch();
  api.put(extensions, extension('a'));
  await using watcher = watching(api, [onExtensions('one'), onExtensions('two')]);
  await until(() => expect(watcher.short()).toHaveLength(2));
  expect(watcher.short().sort()).toEqual([
    'one a/shoot-flux because Extension shoot-flux',
    'two a/shoot-flux because Extension shoot-flux',
  ]);
  await until(() => expect(api.requests).toHaveLength(2));
});

test('lists page by page and watches from there, with bookmarks and a time limit', async () => {
  await using api = await startListWatch();
  for (let index = 0; index < 1100; index++) api.put(extensions, extension(`shoot-${index}`));
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(api.listRequests().map(({ url }) => url.search)).toEqual([
    '?limit=20',
    '?limit=80&continue=20',
    '?limit=320&continue=100',
    '?limit=500&continue=420',
    '?limit=500&continue=920',
  ]);
  await until(() => expect(api.openWatches()).toBe(1));
  expect(api.watchRequests().map(({ url }) => url.search)).toEqual([
    '?watch=true&allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=300',
  ]);
  expect(new Set(watcher.sent.map(({ key }) => key.namespace)).size).toBe(1100);
  expect(watcher.status()).toMatchObject([{ cluster: 'seed', resource: 'extensions', synced: true, objects: 1100 }]);
});

test('serves the garden and several seeds, each with its own subscriptions', async () => {
  await using api = await startListWatch();
  api.put(extensions, extension('a'));
  api.put(configMaps, { metadata: { namespace: 'garden-foo', name: 'flux-config' } });
  const fanOut = on(configMaps, 'fan-out', { in: 'garden', fieldSelector: 'metadata.name=flux-config' });
  await using watcher = watching(api, [onExtensions(), fanOut], { clusters: { garden: true, seeds: ['x', 'y'] } });
  await until(() => expect(watcher.sent).toHaveLength(3));
  expect(watcher.sent.map(({ function: name, key }) => `${name} ${key.cluster}`).sort()).toEqual([
    'fan-out garden',
    'managed-resources x',
    'managed-resources y',
  ]);
  expect(api.listRequests().map(({ url }) => url.searchParams.get('fieldSelector'))).toContain(
    'metadata.name=flux-config',
  );
});

test('never reads the content of a Secret', async () => {
  await using api = await startListWatch();
  api.put(secrets, { metadata: { namespace: 'garden-foo', name: 'flux-source' } });
  const keys = on(secrets, 'keys', { in: 'garden' });
  await using watcher = watching(api, [keys], { clusters: { garden: true, seeds: [] } });
  await until(() => expect(watcher.short()).toEqual(['keys garden-foo/flux-source because Secret flux-source']));
  await until(() => expect(api.openWatches()).toBe(1));
  expect(api.requests.map(({ headers }) => headers.accept)).toEqual([
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ]);
});

test('a changed field wakes only the functions that read it', async () => {
  await using api = await startListWatch();
  const conditions = onExtensions('sync-mode', {
    wakes: ({ status }) => (status as { conditions?: string })?.conditions,
  });
  await using watcher = watching(api, [onExtensions('managed-resources'), conditions]);
  await until(() => expect(api.openWatches()).toBe(1));
  api.put(extensions, extension('a'));
  await until(() => expect(watcher.sent).toHaveLength(2));
  watcher.sent.length = 0;

  api.put(extensions, extension('a', { status: { lastOperation: 'Processing' } }));
  api.put(extensions, extension('a', { status: { conditions: 'Ready' } }));
  await until(() => expect(watcher.sent).not.toHaveLength(0));
  await settled();
  expect(watcher.short()).toEqual(['sync-mode a/shoot-flux because Extension shoot-flux']);
});

test('a version that is no news wakes no function, and the same news after it wakes again', async () => {
  await using api = await startListWatch();
  const asked = onExtensions('one', {
    isNews: ({ metadata }) => metadata.annotations?.operation !== undefined,
    wakes: ({ metadata }) => metadata.annotations?.operation,
  });
  await using watcher = watching(api, [asked]);
  const put = (annotations: Record<string, string>) => api.put(extensions, extension('a', {}, { annotations }));
  await until(() => expect(api.openWatches()).toBe(1));
  put({});
  put({ operation: 'reconcile' });
  await until(() => expect(watcher.sent).toHaveLength(1));
  put({});
  await settled();
  expect(watcher.sent).toHaveLength(1);
  put({ operation: 'reconcile' });
  await until(() => expect(watcher.sent).toHaveLength(2));
  api.remove(extensions, put({}));
  await until(() => expect(watcher.sent).toHaveLength(3));
});

test('a new object of the same name is news, also where the deletion of the former one was not seen', async () => {
  await using api = await startListWatch();
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(api.openWatches()).toBe(1));
  const uids = () => watcher.sent.map(({ cause }) => cause.type === 'object' && cause.uid);
  api.put(extensions, extension('a', {}, { uid: 'one' }));
  await until(() => expect(uids()).toEqual(['one']));
  api.put(extensions, extension('a', {}, { uid: 'another' }));
  await until(() => expect(uids()).toEqual(['one', 'another']));
});

test('says what a list has found, and what gardenlet waits for', async () => {
  await using api = await startListWatch();
  const asked = onExtensions('one', { isAwaited: ({ metadata }) => metadata.annotations?.operation !== undefined });
  api.put(extensions, extension('listed'));
  api.put(extensions, extension('requested', {}, { annotations: { operation: 'reconcile' } }));
  const vanishing = api.put(extensions, extension('vanishing'));
  await using watcher = watching(api, [asked]);
  const flags = () =>
    watcher.sent.map(({ key, cause }) => cause.type === 'object' && [key.namespace, cause.awaited, cause.listed]);
  await until(() => expect(api.openWatches()).toBe(1));
  await until(() =>
    expect(flags().sort()).toEqual([
      ['listed', undefined, true],
      ['requested', true, true],
      ['vanishing', undefined, true],
    ]),
  );
  watcher.sent.length = 0;
  api.put(extensions, extension('listed', {}, { generation: 2 }));
  await until(() => expect(flags()).toEqual([['listed', undefined, undefined]]));
  api.put(extensions, extension('listed', {}, { generation: 3, annotations: { operation: 'reconcile' } }));
  await until(() => expect(flags().slice(1)).toEqual([['listed', true, undefined]]));

  api.answerWith(refuse(503, 'ServiceUnavailable'));
  api.reset();
  await until(() => expect(watcher.status()[0]?.problem).toContain('503'));
  api.remove(extensions, vanishing);
  api.compact();
  api.answerWith(undefined);
  await until(() => expect(flags().slice(2)).toEqual([['vanishing', undefined, true]]));
});

test('wakes the former key of an object that no longer matches or has another key', async () => {
  await using api = await startListWatch();
  const byLabel = onExtensions('one', {
    matches: ({ metadata }) => metadata.labels?.type !== 'other',
    keys: ({ metadata }, cluster) => [{ cluster, namespace: 'a', name: metadata.labels?.key ?? '' }],
  });
  await using watcher = watching(api, [byLabel]);
  const put = (labels: Record<string, string>) => api.put(extensions, extension('a', {}, { labels }));
  put({ key: 'x' });
  await until(() => expect(watcher.sent.map(({ key }) => key.name)).toEqual(['x']));
  put({ key: 'y' });
  await until(() => expect(watcher.sent.map(({ key }) => key.name)).toEqual(['x', 'x', 'y']));
  put({ key: 'y', type: 'other' });
  await until(() => expect(watcher.sent.map(({ key }) => key.name)).toEqual(['x', 'x', 'y', 'y']));
  expect(watcher.status()).toMatchObject([{ objects: 0 }]);
});

test('skips an object for which a definition fails, and continues', async () => {
  await using api = await startListWatch();
  api.put(extensions, extension('broken'));
  api.put(extensions, extension('whole', { status: { state: {} } }));
  const strict = onExtensions('strict', { wakes: ({ status }) => (status as { state: unknown }).state });
  await using watcher = watching(api, [strict, onExtensions('calm')]);
  await until(() => expect(watcher.sent).toHaveLength(3));
  expect(watcher.short().filter((text) => text.startsWith('strict'))).toEqual([
    'strict whole/shoot-flux because Extension shoot-flux',
  ]);
  expect(watcher.lines.join()).toContain('seed/broken/shoot-flux');
});

test('continues a watch after the last bookmark or event', async () => {
  await using api = await startListWatch();
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(api.openWatches()).toBe(1));
  const version = api.bookmark(extensions);
  api.endWatches();
  await until(() => expect(api.watchRequests()).toHaveLength(2));
  expect(api.watchRequests()[1]?.url.searchParams.get('resourceVersion')).toBe(version);
  const { metadata } = api.put(extensions, extension('a'));
  await until(() => expect(watcher.sent).toHaveLength(1));
  api.endWatches();
  await until(() => expect(api.watchRequests()).toHaveLength(3));
  expect(api.watchRequests()[2]?.url.searchParams.get('resourceVersion')).toBe(metadata.resourceVersion);
  expect(api.listRequests()).toHaveLength(1);
});

test('ends a silent watch, but not one with bookmarks', async () => {
  await using api = await startListWatch();
  const timing = { ...quick, inactivityMs: [1000, 1000] satisfies [number, number] };
  await using watcher = watching(api, [onExtensions()], { timing });
  await until(() => expect(api.openWatches()).toBe(1));
  for (let index = 0; index < 8; index++) {
    await wait(200);
    api.bookmark(extensions);
  }
  expect(api.watchRequests()).toHaveLength(1);
  await until(() => expect(api.watchRequests().length).toBeGreaterThan(1));
  expect(api.listRequests()).toHaveLength(1);
  expect(watcher.status()[0]?.problem).toBeUndefined();
});

test('waits between watches that the server ends at once', async () => {
  await using api = await startListWatch();
  const timing = { ...quick, shortWatchMs: 5000, backoffMs: 1e9, backoffCapMs: 1e9 };
  await using watcher = watching(api, [onExtensions()], { timing });
  await until(() => expect(api.openWatches()).toBe(1));
  api.endWatches();
  await wait(200);
  expect(api.watchRequests()).toHaveLength(1);
  expect(watcher.ready()).toBe(true);
});

test.each([
  ['500', refuse(500, 'InternalError')],
  ['403', refuse(403, 'Forbidden')],
  ['401', refuse(401, 'Unauthorized')],
  [
    'a proxy',
    (_: unknown, response: import('node:http').ServerResponse) => Boolean(response.writeHead(502).end('<html>')),
  ],
  ['a reset', (_: unknown, response: import('node:http').ServerResponse) => Boolean(response.destroy())],
  [
    'half an answer',
    (_: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200);
      response.write('{"metadata":{"resourceVersion":"1"},"items":[{"meta', () => response.destroy());
      return true;
    },
  ],
])('%s is survived, before and after the first list', async (_, fault) => {
  await using api = await startListWatch();
  api.answerWith(fault);
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(api.requests.length).toBeGreaterThan(2));
  expect(watcher.ready()).toBe(false);
  expect(watcher.alive()).toBe(true);
  expect(watcher.status()[0]?.problem).toBeDefined();
  api.answerWith(undefined);
  await until(() => expect(watcher.ready()).toBe(true));

  api.answerWith(fault);
  api.reset();
  const before = api.requests.length;
  await until(() => expect(api.requests.length).toBeGreaterThan(before + 2));
  api.put(extensions, extension('a'));
  api.answerWith(undefined);
  await until(() => expect(watcher.short()).toEqual(['managed-resources a/shoot-flux because Extension shoot-flux']));
});

test('a dead seed blocks neither other seeds nor liveness, and the status names it', async () => {
  await using api = await startListWatch();
  api.put(extensions, extension('a'));
  const dead = createKubeClient({ server: 'https://127.0.0.1:1', token: 'x' });
  await using watcher = watching(api, [onExtensions()], {
    clusters: { garden: false, seeds: ['lost', 'dead', 'good'] },
    kube: async (cluster) => {
      if (cluster === 'lost') throw new Error('no kubeconfig');
      return cluster === 'dead' ? dead : api.client;
    },
  });
  await until(() => expect(watcher.sent.map(({ key }) => key.cluster)).toEqual(['good']));
  await until(() =>
    expect(watcher.status()).toMatchObject([
      { cluster: 'lost', synced: false, problem: 'no kubeconfig' },
      { cluster: 'dead', synced: false, problem: expect.stringContaining('ECONNREFUSED') },
      { cluster: 'good', synced: true },
    ]),
  );
  await until(() => expect(watcher.ready()).toBe(true));
  expect(watcher.alive()).toBe(true);
});

test('is not alive while a loop is stuck', async () => {
  await using api = await startListWatch();
  const watcher = watching(api, [onExtensions()], {
    kube: () => new Promise<never>(() => {}),
    timing: { ...quick, stuckMs: 30 },
  });
  await until(() => expect(watcher.alive()).toBe(false));
  await watcher.stop();
});

test('sends no request and no change after stop', async () => {
  await using api = await startListWatch();
  const watcher = watching(api, [onExtensions(), on(clusters, 'other')]);
  await until(() => expect(api.openWatches()).toBe(2));
  await watcher.stop();
  await until(() => expect(api.openWatches()).toBe(0));
  const { length } = api.requests;
  api.put(extensions, extension('a'));
  await settled();
  expect(api.requests).toHaveLength(length);
  expect(watcher.sent).toEqual([]);
});

test('stop waits neither for a silent server nor for a back-off', async () => {
  await using api = await startListWatch();
  api.answerWith(() => true);
  const hanging = watching(api, [onExtensions()]);
  await until(() => expect(api.requests).toHaveLength(1));
  await hanging.stop();
  api.answerWith(refuse(500, 'InternalError'));
  const waiting = watching(api, [onExtensions()], { timing: { ...quick, backoffMs: 1e9, backoffCapMs: 1e9 } });
  await until(() => expect(waiting.status()[0]?.problem).toBeDefined());
  await waiting.stop();
});

test('resync sends every key of the functions that ask for it', async () => {
  await using api = await startListWatch();
  for (let index = 0; index < 5; index++) api.put(extensions, extension(`shoot-${index}`));
  const never = { ...onExtensions('never'), resync: false };
  await using watcher = watching(api, [onExtensions('always'), never], { resyncSeconds: 0.72 });
  const resyncs = () => watcher.sent.filter(({ cause }) => cause.type === 'resync');
  onTestFinished(() => void vi.useRealTimers());
  // Setting the clock of the system, while timers keep their pace, neither stops nor repeats anything.
  for (const days of [0, -1, 2]) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
    const before = resyncs().length;
    await until(() =>
      expect(
        new Set(
          resyncs()
            .slice(before)
            .map(({ key }) => key.namespace),
        ).size,
      ).toBe(5),
    );
  }
  expect(watcher.alive()).toBe(true);
  expect(new Set(resyncs().map((change) => change.function))).toEqual(new Set(['always']));
});
