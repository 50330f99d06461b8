import { expect, test } from 'vitest';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { extension, on, onExtensions, quick, refuse, startListWatch, until, watching } from './testing.ts';

const { configMaps, extensions } = resources;
const dead = createKubeClient({ server: 'https://127.0.0.1:1', token: 'x' });
const onConfigMaps = on(configMaps, 'fan-out', { in: 'garden', wakes: ({ data }) => data });

/** Watches a garden and three seeds; some do not answer, some refuse. */
async function start(deaf: string[], refusing: string[]) {
  const [api, strict] = [await startListWatch(), await startListWatch()];
  strict.answerWith(refuse(403, 'Forbidden'));
  api.put(extensions, extension('a'));
  const seeds = ['one', 'two', 'three'];
  const clientOf = (cluster: string) => (refusing.includes(cluster) ? strict.client : api.client);
  const watcher = watching(api, [onExtensions(), onConfigMaps], {
    clusters: { garden: true, seeds },
    kube: async (cluster) => (deaf.includes(cluster) ? dead : clientOf(cluster)),
  });
  /** Resolves when each cluster has been listed, or has failed. */
  const tried = () =>
    until(() => {
      const selections = watcher.status();
      expect(selections.filter(({ synced, problem }) => synced || problem !== undefined)).toHaveLength(4);
    });
  return {
    watcher,
    strict,
    tried,
    async [Symbol.asyncDispose]() {
      await watcher.stop();
      await api[Symbol.asyncDispose]();
      await strict[Symbol.asyncDispose]();
    },
  };
}

test.each<[string, boolean, string[], string[]]>([
  ['all answer', true, [], []],
  ['one seed does not answer', true, ['one'], []],
  ['no seed answers', true, ['one', 'two', 'three'], []],
  ['one seed refuses what others allow', true, [], ['one']],
  ['one seed does not answer and one refuses', true, ['one'], ['two']],
  ['all seeds refuse, a mistake of the deployment', false, [], ['one', 'two', 'three']],
  ['the only seed that answers refuses', false, ['one', 'two'], ['three']],
  ['the garden does not answer', false, ['garden'], []],
  ['the garden refuses', false, [], ['garden']],
])('when %s, ready is %s', async (_, expected, deaf, refusing) => {
  await using started = await start(deaf, refusing);
  await started.tried();
  // A first list may fail on a busy machine although its cluster answers.
  if (expected) await until(() => expect(started.watcher.ready()).toBe(true));
  else expect(started.watcher.ready()).toBe(false);
});

test('ready stays true when a seed that had not been listed begins to refuse', async () => {
  await using started = await start(['one', 'two'], ['three']);
  await started.tried();
  expect(started.watcher.ready()).toBe(false);
  started.strict.answerWith(undefined);
  await until(() => expect(started.watcher.ready()).toBe(true));
  started.strict.answerWith(refuse(403, 'Forbidden'));
  started.strict.reset();
  await until(() =>
    expect(started.watcher.status()).toContainEqual(
      expect.objectContaining({ problem: expect.stringContaining('403') }),
    ),
  );
  expect(started.watcher.ready()).toBe(true);
});

test.each([
  ['is overloaded', 429, 'TooManyRequests'],
  ['has dropped the version of every list', 410, 'Expired'],
])('when the only seed %s, ready is true', async (_, status, reason) => {
  await using garden = await startListWatch();
  await using seed = await startListWatch();
  seed.answerWith(refuse(status, reason));
  await using watcher = watching(garden, [onExtensions(), onConfigMaps], {
    clusters: { garden: true, seeds: ['only'] },
    kube: async (cluster) => (cluster === 'only' ? seed.client : garden.client),
  });
  await until(() => expect(watcher.ready()).toBe(true));
  expect(watcher.status().find(({ cluster }) => cluster === 'only')?.problem).toContain(`${status}`);
});

test('a seed whose first list takes very long holds nothing up', async () => {
  await using fast = await startListWatch();
  await using slow = await startListWatch();
  // Each object arrives well within the time limit of a pause, so the list never fails.
  slow.answerWith((_, response) => {
    response.writeHead(200).write('{"metadata":{"resourceVersion":"1"},"items":[');
    const timer = setInterval(() => response.write(`${JSON.stringify(extension('a'))},`), 200);
    response.on('close', () => clearInterval(timer));
    return true;
  });
  await using watcher = watching(fast, [onExtensions(), onConfigMaps], {
    clusters: { garden: true, seeds: ['fast', 'slow'] },
    kube: async (cluster) => (cluster === 'slow' ? slow.client : fast.client),
    timing: { ...quick, patienceMs: 1000 },
  });
  await until(() => expect(watcher.status().filter(({ synced }) => synced)).toHaveLength(2));
  expect(watcher.ready()).toBe(false);
  await until(() => expect(watcher.ready()).toBe(true));
  expect(watcher.status().find(({ cluster }) => cluster === 'slow')).toMatchObject({ synced: false });
});
