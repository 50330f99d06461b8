import { expect, test } from 'vitest';
import { changeId } from '../../events/change.ts';
import { definition } from '../../functions/fan-out/function.ts';
import { fanOut, handler } from '../../functions/fan-out/handler.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { fluxConfig, fluxSource, type Garden, startGarden } from './garden.ts';

const edit = (resourceVersion: string): Cause => ({
  type: 'object',
  cluster: 'garden',
  kind: 'ConfigMap',
  namespace: 'garden-foo',
  name: 'flux-config',
  uid: 'u',
  resourceVersion,
});
const cause = edit('7');

function shoot(name: string, fields: { namespace?: string; spec?: object; status?: object } = {}): KubeObject {
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { namespace: fields.namespace ?? 'garden-foo', name },
    spec: { seedName: 'local', ...fields.spec },
    status: { technicalID: `shoot--foo--${name}`, seedName: 'local', ...fields.status },
  };
}

/** Creates a project with so many Shoots. */
function createShoots(garden: Garden, count: number): string[] {
  const names = Array.from({ length: count }, (_, number) => `s${String(number).padStart(4, '0')}`);
  for (const name of names) garden.api.objects.create(shoot(name));
  return names.map((name) => `shoot--foo--${name}`);
}

const heard = (changes: ChangeRequest[]) =>
  changes.filter((change) => change.function === 'managed-resources').map(({ key }) => key.namespace);
const restIn = (changes: ChangeRequest[]) => changes.find((change) => change.function === 'fan-out');

/** Runs the function and then its follow-up changes, as its queue does. Returns the number of runs. */
async function runAll(garden: Garden, first: Cause[], between: (run: number) => void = () => {}): Promise<number> {
  let causes = first;
  for (let run = 1; ; run++) {
    const before = garden.sent.length;
    await garden.run({ causes });
    const rest = restIn(garden.sent.slice(before));
    if (rest === undefined) return run;
    causes = [rest.cause];
    between(run);
  }
}

/** Makes all continue tokens too old. */
function expireLists({ api }: Garden): void {
  api.objects.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'garden-foo', name: `c${api.revision()}` },
  });
  api.compact();
}

/** The function with a time limit that ends each run after its first page. */
const short: Handler = (key, context) => fanOut(key, context, 0);

test("sends a change to every Extension of the project's Shoots on served seeds, and to no other", async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.ensureNamespace('garden-other');
  const shoots = [
    shoot('one'),
    shoot('moving', { spec: { seedName: 'other' } }),
    shoot('far', { spec: { seedName: 'other' }, status: { seedName: 'other' } }),
    shoot('without', { spec: { extensions: [{ type: 'shoot-flux', disabled: true }] } }),
    shoot('waiting', { status: { technicalID: '' } }),
    shoot('stranger', { namespace: 'garden-other' }),
  ];
  for (const object of shoots) garden.api.objects.create(object);
  expect(await garden.run({ causes: [cause] })).toEqual(done);
  expect(heard(garden.sent).sort()).toEqual(['shoot--foo--moving', 'shoot--foo--one']);
  expect(garden.writes()).toEqual([]);
});

test('forwards the version that it has read, so that repetitions are duplicates and newer edits are not', async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.create(shoot('one'));
  garden.api.objects.create(fluxConfig({ repositoryType: 'private' }));
  garden.api.objects.create(fluxSource());
  const idAfter = async (causes: Cause[]) => {
    await garden.run({ causes });
    return changeId(garden.sent.at(-1) as ChangeRequest);
  };
  const first = await idAfter([edit('6')]);
  expect(await idAfter([{ type: 'notBefore', notBefore: '2026-01-02T03:04:05.000Z', attempt: 9 }])).toBe(first);
  garden.api.objects.replace(fluxSource({ identity: 'new' }));
  const second = await idAfter([edit('6')]);
  garden.api.objects.replace(fluxConfig({ repositoryType: 'public' }));
  // Woken by an edit that has been heard already, while a newer one is stored.
  const third = await idAfter([edit('6')]);
  expect(new Set([first, second, third])).toHaveLength(3);
});

test('reads flux-config once', async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.create(fluxConfig({ repositoryType: 'public' }));
  for (const name of ['flux-config', 'flux-status']) {
    garden.api.requests.length = 0;
    await garden.run({ causes: [cause] }, name);
    const reads = garden.api.requests.filter(({ path }) => path.endsWith('/configmaps/flux-config'));
    expect(reads).toHaveLength(1);
  }
});

test('reaches every Shoot of a project with 5,000, however little time each run has', async () => {
  await using garden = await startGarden(definition, short);
  const names = createShoots(garden, 5_000);
  const runs = await runAll(garden, [cause]);
  expect(runs).toBeGreaterThan(10);
  expect(heard(garden.sent)).toEqual(names);
});

test('asks for smaller pages when the Shoots of a page are larger than an answer may be', async () => {
  await using garden = await startGarden(definition, handler);
  const names = Array.from({ length: 52 }, (_, number) => `s${number + 10}`);
  for (const name of names) garden.api.objects.create(shoot(name, { spec: { large: 'x'.repeat(800_000) } }));
  await runAll(garden, [cause]);
  expect(heard(garden.sent)).toEqual(names.map((name) => `shoot--foo--${name}`));
});

test('continues with the Shoots that have not heard when the list has expired', async () => {
  await using garden = await startGarden(definition, short);
  const names = createShoots(garden, 300);
  await runAll(garden, [cause], (run) => {
    if (run === 2) expireLists(garden);
  });
  expect(heard(garden.sent)).toEqual(names);
  const lists = garden.api.requestsLike({ verb: 'list' }).filter(({ query }) => !query.has('continue'));
  expect(lists).toHaveLength(2);
});

test('fails rather than listing without an end when every list expires at once', async () => {
  await using garden = await startGarden(definition, handler);
  createShoots(garden, 300);
  await expect(garden.run({ causes: [cause], send: async () => expireLists(garden) })).rejects.toThrow('410');
});

test('fails when the garden does not answer or the queue refuses a change', async () => {
  await using garden = await startGarden(definition, handler);
  garden.api.objects.create(shoot('one'));
  garden.api.faults.add({ action: 'status', status: 503, match: { verb: 'list' } });
  await expect(garden.run()).rejects.toThrow('503');
  const send = () => Promise.reject(new Error('the queue is full'));
  await expect(garden.run({ send })).rejects.toThrow('the queue is full');
});

test('rests between two pages, so that the API server and other functions work on', async () => {
  await using garden = await startGarden(definition, handler);
  createShoots(garden, 120);
  const latency = 600;
  garden.api.faults.add({ action: 'latency', ms: latency, times: Number.POSITIVE_INFINITY, match: { verb: 'list' } });
  const before = performance.now();
  expect(await runAll(garden, [cause])).toBe(1);
  const pages = garden.api.requests.filter(({ verb }) => verb === 'list').length;
  expect(pages).toBeGreaterThan(1);
  expect(performance.now() - before).toBeGreaterThan(latency * (pages + (pages - 1) * 0.5) - 20);
});

test('has each Shoot write its line again when others have deleted flux-status, and nothing else', async () => {
  await using garden = await startGarden(definition, handler);
  const shoots = createShoots(garden, 120);
  const deletion = { ...edit('7'), name: 'flux-status', deleted: true } as Cause & { type: 'object' };
  await garden.run({ causes: [deletion] }, 'flux-status');
  const { sent } = garden;
  expect(sent.map(({ function: name, key: { namespace } }) => `${name} ${namespace}`)).toEqual(
    shoots.map((namespace) => `project-status ${namespace}`),
  );
  // Repeated, the queue drops them; the next deletion is another one.
  const ids = () => garden.sent.splice(0).map((change) => changeId(change));
  const first = ids();
  await garden.run({ causes: [{ ...deletion, listed: true }] }, 'flux-status');
  expect(ids()).toEqual(first);
  await garden.run({ causes: [{ ...deletion, resourceVersion: '8' }] }, 'flux-status');
  expect(ids().filter((id) => first.includes(id))).toEqual([]);
});
