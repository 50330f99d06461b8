import { expect, test } from 'vitest';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { sendJson } from '../../shared/kube/testing.ts';
import { extension, onExtensions, quick, refuse, startListWatch, until, watching } from './testing.ts';

const { extensions } = resources;

/** An API with this many Extensions, each with so many bytes. */
async function startApi(count: number, bytes = 0) {
  const api = await startListWatch();
  for (let index = 0; index < count; index++) {
    api.put(extensions, extension(`shoot-${index}`, { spec: { providerConfig: 'x'.repeat(bytes) } }));
  }
  return api;
}

const namespaces = (sent: { key: { namespace: string } }[]) => new Set(sent.map(({ key }) => key.namespace)).size;
const numberOf = (url: URL, name: string) => Number(url.searchParams.get(name));

test('asks for few large objects at a time', async () => {
  await using api = await startApi(120, 126_000);
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(namespaces(watcher.sent)).toBe(120);
  expect(api.listRequests().map(({ url }) => numberOf(url, 'limit'))).toEqual([20, 23, 23, 23, 23, 23]);
});

test('lists objects of which only few arrive in time, and repeats no page that has arrived', async () => {
  await using api = await startApi(30);
  // Never answers more than three objects.
  api.answerWith(({ url }) => numberOf(url, 'limit') > 3);
  const client = api.client.with({ timeoutMs: 100 });
  await using watcher = watching({ client }, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(namespaces(watcher.sent)).toBe(30);
  const arrived = api.listRequests().filter(({ url }) => numberOf(url, 'limit') <= 3);
  const starts = arrived.map(({ url }) => numberOf(url, 'continue'));
  expect(new Set(starts).size).toBe(starts.length);
});

test('an outage without connections says nothing about the size of pages', async () => {
  await using api = await startApi(30);
  const dead = createKubeClient({ server: 'https://127.0.0.1:1', token: 'x' });
  let calls = 0;
  const kube = async () => (calls++ < 5 ? dead : api.client);
  await using watcher = watching(api, [onExtensions()], { kube });
  await until(() => expect(watcher.ready()).toBe(true));
  expect(api.listRequests().map(({ url }) => numberOf(url, 'limit'))).toEqual([20, 80]);
});

test('continues a list whose version the API server dropped; the watch brings what changes meanwhile', async () => {
  await using api = await startApi(30);
  let isExpired = false;
  api.answerWith(({ url }, response) => {
    if (isExpired || !url.searchParams.has('continue')) return false;
    isExpired = true;
    // Changed on the first page, which has arrived.
    api.put(extensions, extension('shoot-0', {}, { generation: 2 }));
    const metadata = { continue: url.searchParams.get('continue') };
    sendJson(response, 410, { kind: 'Status', apiVersion: 'v1', metadata, code: 410, reason: 'Expired' });
    return true;
  });
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(api.listRequests().map(({ url }) => url.searchParams.get('continue'))).toEqual([null, '20', '20']);
  expect(namespaces(watcher.sent)).toBe(30);
  await until(() => expect(watcher.sent.filter(({ key }) => key.namespace === 'shoot-0')).toHaveLength(2));
});

test("hears gardenlet's request while the list is under way, and does not go back to what the list says", async () => {
  await using api = await startApi(30);
  let answer = () => {};
  api.answerWith(({ url }, response) => {
    if (!url.searchParams.has('continue')) return false;
    // The state when the list began, answered later.
    const items = Array.from({ length: 10 }, (_, index) => ({
      ...extension(`shoot-${20 + index}`, {}, { uid: `uid-${121 + index}`, resourceVersion: `${121 + index}` }),
    }));
    answer = () => sendJson(response, 200, { metadata: { resourceVersion: '130' }, items });
    return true;
  });
  const asked = onExtensions('one', {
    wakes: ({ metadata }) => [metadata.generation, metadata.annotations],
    isAwaited: ({ metadata }) => metadata.annotations?.operation !== undefined,
  });
  await using watcher = watching(api, [asked]);
  await until(() => expect(api.openWatches()).toBe(1));
  expect(watcher.ready()).toBe(false);
  const request = { annotations: { operation: 'reconcile' } };
  for (const number of [3, 25]) api.put(extensions, extension(`shoot-${number}`, {}, request));
  const gone = api.put(extensions, extension('shoot-26'));
  const awaited = () =>
    watcher.sent.filter(({ cause }) => cause.type === 'object' && cause.awaited).map(({ key }) => key.namespace);
  await until(() => expect(awaited()).toEqual(['shoot-3', 'shoot-25']));
  const sent = (change: RegExp) => until(() => expect(watcher.short().join()).toMatch(change));
  await sent(/shoot-26\//);
  api.remove(extensions, gone);
  await sent(/shoot-26\/[^,]* deleted/);
  watcher.sent.length = 0;
  answer();
  await until(() => expect(watcher.ready()).toBe(true));
  expect(watcher.sent.map(({ key }) => key.namespace).sort()).toEqual(
    [20, 21, 22, 23, 24, 27, 28, 29].map((number) => `shoot-${number}`),
  );
  expect(watcher.status()[0]?.objects).toBe(29);
  // The state of the watch still counts.
  api.put(extensions, extension('shoot-25', {}, request));
  api.put(extensions, extension('shoot-24', {}, { generation: 2 }));
  await until(() => expect(watcher.sent.map(({ key }) => key.namespace)).toContain('shoot-24'));
  expect(watcher.sent.map(({ key }) => key.namespace)).not.toContain('shoot-25');
});

test('starts a list over when the API server rejects the token of its next page', async () => {
  await using api = await startApi(30);
  let rejected = 0;
  api.answerWith((request, response) => {
    if (!request.url.searchParams.has('continue') || rejected++ > 0) return false;
    return refuse(400, 'BadRequest')(request, response);
  });
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(namespaces(watcher.sent)).toBe(30);
});

test.each([
  ['with the same token for ever', { token: () => '20', items: (all: unknown[]) => all.slice(0, 20) }],
  ['with new tokens for ever', { token: (page: number) => `${page}`, items: (all: unknown[]) => all.slice(0, 20) }],
  ['without objects for ever', { token: (page: number) => `${page}`, items: () => [] }],
])('pages %s are asked for ever more seldom, and shown', async (_, { token, items }) => {
  await using api = await startApi(30);
  const all = Array.from({ length: 30 }, (_, index) =>
    extension(`shoot-${index}`, {}, { uid: `${index}`, resourceVersion: '7' }),
  );
  let pages = 0;
  api.answerWith(({ url }, response) => {
    if (url.searchParams.get('watch') === 'true') return false;
    if (pages < 1000)
      sendJson(response, 200, { metadata: { resourceVersion: '130', continue: token(pages++) }, items: items(all) });
    return true;
  });
  await using watcher = watching(api, [onExtensions()], { timing: { ...quick, backoffMs: 100, backoffCapMs: 60_000 } });
  await until(() => expect(watcher.status()[0]?.problem).toContain('a page without new objects'));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(api.listRequests().length).toBeLessThan(30);
  // The watch goes on beside it.
  api.put(extensions, extension('shoot-7', {}, { generation: 2 }));
  await until(() => expect(namespaces(watcher.sent)).toBeGreaterThan(0));
});

test('a list with an empty page in its middle becomes complete', async () => {
  await using api = await startApi(45);
  let isEmpty = true;
  api.answerWith(({ url }, response) => {
    if (!isEmpty || url.searchParams.get('continue') !== '20') return false;
    isEmpty = false;
    sendJson(response, 200, { metadata: { resourceVersion: '130', continue: '20' }, items: [] });
    return true;
  });
  await using watcher = watching(api, [onExtensions()]);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(namespaces(watcher.sent)).toBe(45);
  expect(watcher.status()[0]?.problem).toBeUndefined();
});

test('lists again after three watches in a row that bring nothing, and shows it until one does', async () => {
  await using api = await startApi(1);
  api.answerWith(({ url }, response) => {
    if (url.searchParams.get('watch') !== 'true') return false;
    response.writeHead(200).flushHeaders();
    return true;
  });
  const timing = { ...quick, inactivityMs: [200, 200] satisfies [number, number] };
  await using watcher = watching(api, [onExtensions()], { timing });
  await until(() => expect(api.listRequests().length).toBeGreaterThan(2));
  // A watch that ends so early may not have reached a busy server: the watcher itself says how many it has ended.
  const ended = watcher.lines
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'watches bring nothing');
  expect(ended.slice(0, 2).map(({ watches }) => watches)).toEqual([3, 6]);
  const problem = () => watcher.status()[0]?.problem;
  await until(() => expect(problem()).toMatch(/the last \d+ watches brought no event and no bookmark/));
  expect(watcher.ready()).toBe(true);
  // Meanwhile, lists find what changes.
  api.put(extensions, extension('shoot-0', {}, { generation: 2 }));
  await until(() => expect(watcher.sent).toHaveLength(2));

  api.answerWith(undefined);
  await until(() => expect(api.openWatches()).toBe(1));
  await until(() => {
    api.bookmark(extensions);
    expect(problem()).toBeUndefined();
  });
});

test('a Retry-After longer than a stuck loop is respected, and the watcher is alive meanwhile', async () => {
  await using api = await startApi(0);
  api.answerWith(refuse(429, 'TooManyRequests', { 'retry-after': '1800' }));
  await using watcher = watching(api, [onExtensions()], { timing: { ...quick, stuckMs: 50 } });
  await until(() => expect(watcher.status()[0]?.problem).toContain('429'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(api.requests).toHaveLength(1);
  expect(watcher.alive()).toBe(true);
});
