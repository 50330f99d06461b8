import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Migrated, migrateStored } from '../../functions/managed-resources/shoot/migrate-stored.ts';
import { resumeAll, suspendAll } from '../../functions/managed-resources/shoot/suspend.ts';
import { observe } from '../../functions/readiness/observe.ts';
import { appliedFactory } from '../../shared/gardener/testing.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { entriesAt, fieldsAt } from '../../shared/shapes.ts';
import { patientClient } from '../patient-client.ts';
import { crdOf } from './embedded-apis.ts';

/** More than two pages of 250. */
const MANY = 600;

let api: KubeApi;
let shoot: HttpKubeClient;
let requests: number;

async function start(...crds: KubeObject[]): Promise<void> {
  api = await startKubeApi({ objects: crds as never[] });
  requests = 0;
  const onRequest = () => void requests++;
  shoot = patientClient({ server: api.url, ca: api.ca, token: api.token }, { onRequest });
}
function create(apiVersion: string, kind: string, metadata: { namespace: string; name: string }): void {
  api.objects.ensureNamespace(metadata.namespace);
  api.objects.create({ apiVersion, kind, metadata, spec: {} } as KubeObject);
}
afterEach(async () => {
  shoot.close();
  await api.stop();
});
/** The time is up after so many requests. */
const upAfter = (count: number) => {
  const end = requests + count;
  return () => requests >= end;
};

describe('a shoot with very many objects', () => {
  beforeEach(async () => {
    await start(crdOf('Kustomization', 'kustomize.toolkit.fluxcd.io', 'kustomizations', 'v1'));
    for (let index = 0; index < MANY; index++) {
      create('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', { namespace: 'default', name: `app-${index}` });
    }
  });

  const suspended = () =>
    api.objects
      .list('kustomize.toolkit.fluxcd.io/v1', 'Kustomization')
      .filter(({ spec }) => (spec as { suspend?: boolean }).suspend === true).length;

  it('is suspended and resumed in parts, each within its time, until all are done', async () => {
    expect(await suspendAll(shoot, upAfter(100))).toBe(false);
    expect(requests).toBeLessThan(130);
    for (let isDone = false; !isDone; ) isDone = await suspendAll(shoot, upAfter(200));
    expect(suspended()).toBe(MANY);
    const half = requests;
    expect(await resumeAll(shoot, upAfter(100))).toBe(false);
    expect(requests - half).toBeLessThan(130);
    expect(suspended()).toBeGreaterThan(0);
    for (let isDone = false; !isDone; ) isDone = await resumeAll(shoot, upAfter(200));
    expect(suspended()).toBe(0);
  });
});

describe('many listed objects in many namespaces', () => {
  const kinds = [
    { kind: 'Kustomization', group: 'kustomize.toolkit.fluxcd.io', version: 'v1' },
    { kind: 'HelmRelease', group: 'helm.toolkit.fluxcd.io', version: 'v2' },
  ];
  /** As many as a configuration may list, in fifty namespaces. */
  const listed = Array.from({ length: 50 }, (_, index) => `team-${index}`).flatMap((namespace) =>
    kinds.map(({ kind, group, version }) => ({ apiVersion: `${group}/${version}`, kind, namespace, name: 'app' })),
  );
  const place = { object: 'providerConfig', path: 'objects[0]' };
  const applied: Applied = { ...appliedFactory(), others: listed.map((one) => ({ ...one, place })) };

  /** @param foreign how many objects of each kind the owner of the shoot has in a namespace that comes first */
  async function startWith(foreign: number) {
    await start(...kinds.map(({ kind, group, version }) => crdOf(kind, group, `${kind.toLowerCase()}s`, version)));
    for (const { kind, group, version } of kinds) {
      for (let index = 0; index < foreign; index++) {
        create(`${group}/${version}`, kind, { namespace: 'a', name: `app-${index}` });
      }
    }
    for (const { apiVersion, kind, ...metadata } of listed) create(apiVersion, kind, metadata);
    /** Counts the requests, and how many of them were under way at once. */
    const seen = { lists: 0, finds: 0, atOnce: 0 };
    let underWay = 0;
    const count = async <T>(call: Promise<T>): Promise<T> => {
      seen.atOnce = Math.max(seen.atOnce, ++underWay);
      return call.finally(() => underWay--);
    };
    const counting = {
      list: (...args: Parameters<KubeClient['list']>) => {
        seen.lists++;
        return count(shoot.list(...args));
      },
      find: (...args: Parameters<KubeClient['find']>) => {
        seen.finds++;
        return count(shoot.find(...args));
      },
    } as KubeClient;
    return { counting, seen };
  }
  const names = (objects: readonly ({ kind: string; metadata: object } | undefined)[] = []) =>
    objects.map((object) => object && { kind: object.kind, metadata: object.metadata });
  const expected = listed.map(({ kind, namespace, name }) => ({
    kind,
    metadata: expect.objectContaining({ namespace, name }),
  }));

  it('are read with one list of each kind', async () => {
    const { counting, seen } = await startWith(0);
    const { others } = await observe(counting, applied, new Date());
    expect(names(others)).toEqual(expected);
    // The Deployments, and two kinds.
    expect(seen).toEqual({ lists: 3, finds: 0, atOnce: 1 });
  });

  it('are read alone where the list is full of others, and few of them one after the other', async () => {
    const { counting, seen } = await startWith(250);
    const few = (applied.others ?? []).filter(({ kind }) => kind === 'Kustomization').slice(0, 3);
    const { others } = await observe(counting, { ...applied, others: few }, new Date());
    expect(names(others)).toEqual(expected.filter(({ kind }) => kind === 'Kustomization').slice(0, 3));
    expect(seen).toEqual({ lists: 2, finds: 3, atOnce: 1 });
  });

  it('are read some at once where the shoot is slow', async () => {
    const { counting, seen } = await startWith(250);
    api.faults.add({ match: {}, action: 'latency', ms: 100, times: Number.POSITIVE_INFINITY });
    const { others } = await observe(counting, applied, new Date());
    expect(names(others)).toEqual(expected);
    expect(seen).toEqual({ lists: 3, finds: 100, atOnce: 8 });
  });
});

describe('the migration of very many objects', () => {
  const group = 'source.toolkit.fluxcd.io';
  const next = crdOf('OCIRepository', group, 'ocirepositories', 'v1');
  let rewritten: string[];
  /** Remembers which objects are written. */
  let naming: KubeClient;

  beforeEach(async () => {
    await start(crdOf('OCIRepository', group, 'ocirepositories', 'v1beta2'));
    for (let index = 0; index < MANY; index++) {
      const namespace = index % 2 === 0 ? 'default' : 'kube-system';
      create(`${group}/v1beta2`, 'OCIRepository', { namespace, name: `app-${index}` });
    }
    rewritten = [];
    naming = {
      ...shoot,
      mergePatch(resource, name, ...rest) {
        if (resource.kind === 'OCIRepository') rewritten.push(`${name.namespace}/${name.name}`);
        return shoot.mergePatch(resource, name, ...rest);
      },
    };
  });

  /** @param most requests of a run, after which its time is up */
  const runWith = (most: number): Promise<Migrated> => {
    const now = new Date(Date.now() + 60_000);
    return migrateStored(naming, { crds: [next], fluxVersion: 'v2.9.4', now, isTimeUp: upAfter(most) });
  };
  const live = () => shoot.find(resources.customResourceDefinitions, next.metadata);
  const status = async () => fieldsAt(await live(), 'status')?.storedVersions;
  const patch = (spec: object) =>
    shoot.mergePatch(resources.customResourceDefinitions, next.metadata, { spec }, { fieldManager: 'person' });

  it('continues in the next run where the last one ended, and writes each object once', async () => {
    expect(await runWith(1000)).toMatchObject({ state: 'unfinished', recheckInSeconds: 5 });
    let runs = 0;
    for (let migrated: Migrated['state'] = 'unfinished'; migrated !== 'done'; runs += 1) {
      migrated = (await runWith(100)).state;
      if (migrated !== 'done') expect(await status()).toEqual(['v1beta2', 'v1']);
    }
    expect(runs).toBeGreaterThan(5);
    expect([rewritten.length, new Set(rewritten).size]).toEqual([MANY, MANY]);
    expect(await status()).toEqual(['v1']);
    expect((await live())?.metadata.annotations ?? {}).toEqual({});
  });

  it('begins again where the CRD has changed in between, because it may store in another version', async () => {
    await runWith(1000);
    await runWith(100);
    const written = rewritten.length;
    await patch({ names: { shortNames: ['o'] } });
    while ((await runWith(1000)).state !== 'done');
    expect(rewritten.length).toBe(written + MANY);
  });

  it('waits, and changes no status, while the kind is not served', async () => {
    await runWith(1000);
    const versions = entriesAt((await live())?.spec, 'versions').map((one) => ({ ...one, served: one.name !== 'v1' }));
    await patch({ versions });
    expect(await runWith(1000)).toMatchObject({ state: 'unfinished' });
    expect(await status()).toEqual(['v1beta2', 'v1']);
  });
});
