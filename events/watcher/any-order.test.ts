import { expect, test } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { sendJson, statusBody } from '../../shared/kube/testing.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createRandom } from '../../test/soak/random.ts';
import { extension, onExtensions, quick, startListWatch, until, watching } from './testing.ts';

const { extensions } = resources;
const PAGE = 5;
const never = new AbortController().signal;

/** An API whose lists are snapshots in pages that may expire, as those of an API server. */
async function startApi(random: () => number) {
  const api = await startListWatch();
  const present = new Map<string, KubeObject>();
  const snapshots: { items: KubeObject[]; version: string }[] = [];
  const faults = { areOn: true };
  let version = '100';

  api.answerWith(({ url }, response) => {
    if (url.searchParams.get('watch') === 'true') return false;
    const answer = () => {
      const token = url.searchParams.get('continue');
      const fault = faults.areOn ? random() : 1;
      if (fault < 0.05) return sendJson(response, 500, statusBody(500, 'InternalError', 'as the test says'));
      const take = () => snapshots.push({ items: [...present.values()].sort(byName), version }) - 1;
      if (token === null) return page(take(), '');
      const [snapshot, after = ''] = token.split(' ');
      if (fault < 0.15) {
        const body = statusBody(410, 'Expired', 'too old');
        const metadata = fault < 0.1 ? { continue: `${take()} ${after}` } : {};
        return sendJson(response, 410, { ...body, metadata });
      }
      return page(Number(snapshot), after);
    };
    const page = (snapshot: number, after: string) => {
      const { items = [], version: resourceVersion = '' } = snapshots[snapshot] ?? {};
      const rest = items.filter(({ metadata }) => (metadata.namespace ?? '') > after);
      const shown = rest.slice(0, PAGE);
      const last = shown.at(-1)?.metadata.namespace;
      const next = rest.length > PAGE && { continue: `${snapshot} ${last}` };
      sendJson(response, 200, { metadata: { resourceVersion, ...next }, items: shown });
    };
    setTimeout(answer, random() * 4);
    return true;
  });

  return {
    api,
    present,
    faults,
    put(namespace: string, generation: number) {
      const stored = api.put(extensions, extension(namespace, {}, { generation }));
      present.set(namespace, stored);
      version = stored.metadata.resourceVersion ?? '';
    },
    remove(namespace: string) {
      const stored = present.get(namespace);
      if (stored === undefined) return;
      api.remove(extensions, stored);
      present.delete(namespace);
      version = api.bookmark(extensions);
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.namespace ?? '') < (b.metadata.namespace ?? '') ? -1 : 1;
}

test.each([37, 39, 40])(
  'whatever happens during lists and watches, the last change of each object is sent (%i)',
  async (seed) => {
    const random = createRandom(seed).next;
    await using world = await startApi(random);
    const { api, present, faults } = world;
    const name = () => `shoot-${10 + Math.floor(random() * 40)}`;
    for (let index = 0; index < 30; index++) world.put(name(), index);
    await using watcher = watching(api, [onExtensions()], { timing: { ...quick, silentWatches: 50 } });
    for (let step = 0; step < 250; step++) {
      const choice = random();
      if (choice < 0.5) world.put(name(), 100 + step);
      else if (choice < 0.75) world.remove(name());
      else if (choice < 0.8) api.endWatches();
      else if (choice < 0.84) api.compact();
      else if (choice < 0.86) api.reset();
      else await sleep(random() * 15, never);
    }
    faults.areOn = false;
    api.endWatches();
    await until(() => {
      const last = new Map(watcher.sent.map(({ key, cause }) => [key.namespace, cause]));
      for (const { metadata } of present.values()) {
        const { uid, resourceVersion } = metadata;
        expect(last.get(metadata.namespace ?? '')).toMatchObject({ uid, resourceVersion });
        expect(last.get(metadata.namespace ?? '')).not.toHaveProperty('deleted');
      }
      for (const [namespace, cause] of last) {
        if (!present.has(namespace)) expect(cause).toMatchObject({ deleted: true });
      }
      expect(watcher.status()[0]?.objects).toBe(present.size);
    });
  },
);
