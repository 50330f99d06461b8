import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Migrated, migrateStored } from '../../functions/managed-resources/shoot/migrate-stored.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient, type HttpKubeClient, type RequestInfo } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { entriesAt, fieldsAt } from '../../shared/shapes.ts';

/** More than two pages of 250. */
const MANY = 600;
const group = 'source.toolkit.fluxcd.io';
const version = (name: string, storage: boolean) => ({
  ...{ name, served: true, storage },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const crd = (...versions: ReturnType<typeof version>[]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `ocirepositories.${group}` },
  spec: {
    group,
    names: {
      plural: 'ocirepositories',
      kind: 'OCIRepository',
      singular: 'ocirepository',
      listKind: 'OCIRepositoryList',
    },
    scope: 'Namespaced',
    versions,
  },
});

describe('the migration of very many objects', () => {
  let api: Awaited<ReturnType<typeof startKubeApi>>;
  let shoot: HttpKubeClient;
  let requests: RequestInfo[];
  let rewritten: string[];
  /** Remembers which objects are written. */
  let naming: KubeClient;

  beforeEach(async () => {
    api = await startKubeApi({ objects: [crd(version('v1beta2', true)) as never] });
    for (let index = 0; index < MANY; index += 1) {
      const metadata = { namespace: index % 2 === 0 ? 'default' : 'kube-system', name: `app-${index}` };
      const object = { apiVersion: `${group}/v1beta2`, kind: 'OCIRepository', metadata, spec: { url: 'oci://a' } };
      api.objects.create(object);
    }
    const { url: server, ca, token } = api;
    requests = [];
    rewritten = [];
    shoot = createKubeClient({ server, ca, token }, { onRequest: (info) => requests.push(info) });
    naming = {
      ...shoot,
      mergePatch(resource, name, ...rest) {
        if (resource.kind === 'OCIRepository') rewritten.push(`${name.namespace}/${name.name}`);
        return shoot.mergePatch(resource, name, ...rest);
      },
    };
  });

  afterEach(async () => {
    shoot.close();
    await api.stop();
  });

  const next = crd(version('v1', true));
  /** @param most requests of a run, after which its time is up */
  const runWith = (most: number): Promise<Migrated> => {
    const end = requests.length + most;
    const isTimeUp = () => requests.length >= end;
    const now = new Date(Date.now() + 60_000);
    return migrateStored(naming, { crds: [next], fluxVersion: 'v2.9.4', now, isTimeUp });
  };
  const live = () => shoot.find(resources.customResourceDefinitions, next.metadata);
  const status = async () => fieldsAt(await live(), 'status')?.storedVersions;

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
    await shoot.mergePatch(
      resources.customResourceDefinitions,
      next.metadata,
      { spec: { names: { shortNames: ['o'] } } },
      { fieldManager: 'person' },
    );
    while ((await runWith(1000)).state !== 'done');
    expect(rewritten.length).toBe(written + MANY);
  });

  it('waits, and changes no status, while the kind is not served', async () => {
    await runWith(1000);
    const unserved = entriesAt((await live())?.spec, 'versions').map((one) => ({ ...one, served: one.name !== 'v1' }));
    const patch = { spec: { versions: unserved } };
    await shoot.mergePatch(resources.customResourceDefinitions, next.metadata, patch, { fieldManager: 'person' });
    expect(await runWith(1000)).toMatchObject({ state: 'unfinished' });
    expect(await status()).toEqual(['v1beta2', 'v1']);
  });
});
