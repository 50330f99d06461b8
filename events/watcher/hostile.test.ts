import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { type SeenRequest, sendJson } from '../../shared/kube/testing.ts';
import { extension, on, onExtensions, quick, startListWatch, until, watching } from './testing.ts';

const { configMaps, extensions } = resources;

/** Reads fields as the functions do, and labels without a check. */
const reading = onExtensions('reading', {
  matches: ({ metadata }) => metadata.labels?.skip?.startsWith('yes') !== true,
  wakes: ({ metadata }) => metadata.generation,
});

const odd: [string, unknown][] = [
  ['null', null],
  ['a number', 7],
  ['a text', 'Extension'],
  ['a list', [1, 2]],
  ['an object without metadata', { kind: 'Extension' }],
  ['metadata that is null', { metadata: null }],
  ['metadata that is a text', { metadata: 'a/shoot-flux' }],
  ['no name', { metadata: { namespace: 'a', uid: 'u', resourceVersion: '1' } }],
  ['a name that is a number', { metadata: { namespace: 'a', name: 1, uid: 'u', resourceVersion: '1' } }],
  ['a namespace with a slash', { metadata: { namespace: 'a/b', name: 'x', uid: 'u', resourceVersion: '1' } }],
  ['an empty namespace', { metadata: { namespace: '', name: 'x', uid: 'u', resourceVersion: '1' } }],
  ['a name outside ASCII', { metadata: { namespace: 'a', name: 'fl\uffffux', uid: 'u', resourceVersion: '1' } }],
  ['a name with a line break', { metadata: { namespace: 'a', name: 'x\ny', uid: 'u', resourceVersion: '1' } }],
  [
    'a name of 10,000 characters',
    { metadata: { namespace: 'a', name: 'x'.repeat(1e4), uid: 'u', resourceVersion: '1' } },
  ],
  ['a uid that is an object', { metadata: { namespace: 'a', name: 'x', uid: {}, resourceVersion: '1' } }],
  ['labels that are numbers', extension('odd', {}, { uid: 'u', resourceVersion: '1', labels: { skip: 1 } })],
  ['labels that are a text', extension('odd', {}, { uid: 'u', resourceVersion: '1', labels: 'skip' })],
];

test.each(odd)('a list with %s among its items is complete without it', async (_, item) => {
  await using api = await startListWatch();
  const whole = api.put(extensions, extension('whole'));
  api.answerWith(({ url }, response) => {
    if (url.searchParams.get('watch') === 'true') return false;
    sendJson(response, 200, { metadata: { resourceVersion: '101' }, items: [item, whole, item] });
    return true;
  });
  await using watcher = watching(api, [reading]);
  await until(() => expect(watcher.ready()).toBe(true));
  await until(() => expect(watcher.sent.map(({ key }) => key.namespace)).toContain('whole'));
  expect(watcher.sent.filter(({ key }) => !['whole', 'odd'].includes(key.namespace))).toEqual([]);
  await until(() => expect(api.openWatches()).toBe(1));
});

/** Answers the first watch with these lines, and all others as usual. */
function firstWatch(lines: string[]) {
  let watches = 0;
  return ({ url }: SeenRequest, response: ServerResponse): boolean => {
    if (url.searchParams.get('watch') !== 'true' || watches++ > 0) return false;
    response.writeHead(200);
    for (const line of lines) response.write(`${line}\n`);
    return true;
  };
}

test.each([
  ...odd.map(([name, object]): [string, string] => [name, JSON.stringify({ type: 'ADDED', object })]),
  ['no object', JSON.stringify({ type: 'MODIFIED' })],
  ['no type', JSON.stringify({ object: extension('odd') })],
  ['null as the event', 'null'],
  ['a number as the event', '7'],
  ['a line that is not JSON', '<html>'],
  ['a bookmark without metadata', JSON.stringify({ type: 'BOOKMARK', object: {} })],
  ['a bookmark without a version', JSON.stringify({ type: 'BOOKMARK', object: { metadata: {} } })],
  ['a deleted object that is null', JSON.stringify({ type: 'DELETED', object: null })],
  ['an error without a Status', JSON.stringify({ type: 'ERROR', object: null })],
  ['an error that is a text', JSON.stringify({ type: 'ERROR', object: 'gone' })],
  ['an error 410', JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })],
  ['an error 500', JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError' } })],
])('a watch with %s does not stop the watcher', async (_, line) => {
  await using api = await startListWatch();
  api.put(extensions, extension('before'));
  api.answerWith(firstWatch([line]));
  await using watcher = watching(api, [reading], { clusters: { garden: false, seeds: ['seed'] } });
  await until(() => expect(watcher.ready()).toBe(true));
  await until(() => expect(api.watchRequests().length).toBeGreaterThan(0));
  api.reset();
  await until(() => expect(api.openWatches()).toBe(1));
  api.put(extensions, extension('after'));
  await until(() => expect(watcher.sent.map(({ key }) => key.namespace)).toContain('after'));
  expect(watcher.alive()).toBe(true);
});

test('watches that end at once after the same broken event end in lists that find what changes', async () => {
  await using api = await startListWatch();
  api.answerWith(({ url }, response) => {
    if (url.searchParams.get('watch') !== 'true') return false;
    response.writeHead(200).end('{"type":"MODIFIED","object":{}}\n');
    return true;
  });
  await using watcher = watching(api, [reading], { timing: { ...quick, shortWatchMs: 1000 } });
  await until(() => expect(watcher.ready()).toBe(true));
  api.put(extensions, extension('a'));
  await until(() => expect(watcher.sent.map(({ key }) => key.namespace)).toEqual(['a']));
});

test("one tenant's object that cannot be read hides no other object, neither in a list nor in a watch", async () => {
  await using api = await startListWatch();
  const odd = { labels: { a: {} } };
  api.put(extensions, extension('a'));
  api.put(extensions, extension('odd', {}, odd));
  api.put(extensions, extension('z'));
  await using watcher = watching(api, [reading]);
  const seen = () => watcher.sent.map(({ key }) => key.namespace);
  await until(() => expect(watcher.ready()).toBe(true));
  await until(() => expect(seen()).toEqual(['a', 'z']));
  await until(() => expect(api.openWatches()).toBe(1));
  api.put(extensions, extension('odd', {}, { ...odd, generation: 2 }));
  api.put(extensions, extension('z', {}, { generation: 2 }));
  await until(() => expect(seen()).toEqual(['a', 'z', 'z']));
  expect(api.listRequests()).toHaveLength(1);
  expect(watcher.lines.join()).toContain('the answer is not a Kubernetes object with valid metadata');
});

test('events out of order and repeated events end with the last state', async () => {
  await using api = await startListWatch();
  const event = (type: string, generation: number, resourceVersion: string) =>
    JSON.stringify({ type, object: extension('a', {}, { uid: 'u', generation, resourceVersion }) });
  api.answerWith(
    firstWatch([
      event('MODIFIED', 2, '112'),
      event('ADDED', 1, '111'),
      event('MODIFIED', 2, '112'),
      event('DELETED', 2, '113'),
      event('DELETED', 2, '113'),
      event('ADDED', 3, '114'),
    ]),
  );
  await using watcher = watching(api, [reading]);
  await until(() => {
    const last = watcher.sent.at(-1)?.cause;
    expect(last?.type === 'object' && last.resourceVersion).toBe('114');
  });
  expect(watcher.status()[0]?.objects).toBe(1);
});

test('objects at the size limit of an API server are followed like small ones', async () => {
  await using api = await startListWatch();
  const large = 'x'.repeat(1_000_000);
  const onConfigMaps = on(configMaps, 'keys', { wakes: ({ data }) => data });
  api.put(extensions, extension('a', { spec: { providerConfig: large } }, { annotations: { large } }));
  api.put(configMaps, { metadata: { namespace: 'a', name: 'flux-config' }, data: { large } });
  await using watcher = watching(api, [reading, onConfigMaps]);
  await until(() => expect(watcher.sent).toHaveLength(2));
  await until(() => expect(api.openWatches()).toBe(2));
  api.put(configMaps, { metadata: { namespace: 'a', name: 'flux-config' }, data: { large: `${large}y` } });
  await until(() => expect(watcher.sent).toHaveLength(3));
  expect(JSON.stringify(watcher.sent).length).toBeLessThan(2000);
});
