import { expect, onTestFinished, test } from 'vitest';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { AnswerTooLargeError } from '../../../shared/kube/errors.ts';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import { objectsOf } from '../../../shared/kube/pages.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { sendJson, startTlsServer } from '../../../shared/kube/testing.ts';
import { shootLimits } from '../../../shared/kube/transport.ts';
import { everyPage } from './act.ts';

/** A shoot with so many ConfigMaps of a size; its page tokens are numbers. `endless`: the list never ends. */
async function shootWith({ objects, bytes, endless = false }: { objects: number; bytes: number; endless?: boolean }) {
  const limits: number[] = [];
  const server = await startTlsServer(({ url }, response) => {
    const limit = Number(url.searchParams.get('limit'));
    const from = Number(url.searchParams.get('continue') ?? 0);
    limits.push(limit);
    const to = endless ? from + limit : Math.min(objects, from + limit);
    const names = Array.from({ length: to - from }, (_, index) => `n${from + index}`);
    const items = names.map((name) => ({ metadata: { name }, data: { text: 'x'.repeat(bytes) } }));
    sendJson(response, 200, { metadata: to < objects || endless ? { continue: String(to) } : {}, items });
  });
  const shoot = createKubeClient(server.connection, { limits: shootLimits });
  onTestFinished(async () => {
    shoot.close();
    await server[Symbol.asyncDispose]();
  });
  return { shoot, limits };
}

const everyName = async (shoot: KubeClient) => {
  const names: string[] = [];
  const isRead = await everyPage(shoot, resources.configMaps, { isTimeUp: () => false }, async (items) => {
    names.push(...items.map(({ metadata }) => metadata.name));
    return true;
  });
  expect(isRead).toBe(true);
  return names;
};

const namesOf = async (shoot: KubeClient) => {
  const names: string[] = [];
  for await (const { metadata } of objectsOf(shoot, resources.configMaps, {}, 250)) names.push(metadata.name);
  return names;
};

test.each<[string, (shoot: KubeClient) => Promise<string[]>]>([
  ['everyPage', everyName],
  ['objectsOf', namesOf],
])('%s asks for smaller pages while a page is larger than an answer may be', async (_, read) => {
  const { shoot, limits } = await shootWith({ objects: 100, bytes: 100_000 });
  expect(await read(shoot)).toEqual(Array.from({ length: 100 }, (_, index) => `n${index}`));
  expect(limits.slice(0, 4)).toEqual([250, 63, 16, 16]);
});

test('an object that alone is larger than an answer may be ends in one sentence', async () => {
  const { shoot } = await shootWith({ objects: 3, bytes: 4_000_000 });
  const reading = everyPage(shoot, resources.configMaps, { isTimeUp: () => false }, async () => true);
  await expect(reading).rejects.toThrow(AnswerTooLargeError);
  await expect(reading).rejects.toThrow('is larger than 3 MiB, so it is not read; make the objects smaller, or remove');
});

test('page tokens without end are followed until the time is up', async () => {
  const { shoot, limits } = await shootWith({ objects: 1, bytes: 1, endless: true });
  const isRead = await everyPage(shoot, resources.configMaps, { isTimeUp: () => limits.length >= 5 }, async () => true);
  expect(isRead).toBe(false);
  expect(limits).toHaveLength(5);
});
