import { setTimeout as sleep } from 'node:timers/promises';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Migrated, migrateStored } from '../../functions/managed-resources/shoot/migrate.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { compareVersions } from '../../shared/flux/versions.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/gardener/shapes.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';
import { rememberEtcd } from './forget.ts';
import { storedInEtcd } from './upgrades/in-etcd.ts';
import { objectOf, servedVersions, storing } from './upgrades/objects.ts';

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const all = folder === undefined ? [] : await openDistribution(folder).versions();
const versions = all.filter((version) => version !== 'v2.9.2').sort(compareVersions);
const last = versions.at(-1) ?? '';
const fieldManager = 'upgrade';
const prefix = 'migration';

describe.skipIf(folder === undefined)('objects in every version of every release, on a real API server', () => {
  let etcd: Etcd;
  let server: ApiServer;
  let client: HttpKubeClient;
  let forget: () => Promise<void>;

  beforeAll(async () => {
    etcd = await startEtcd();
    server = await startApiServer({ etcd, prefix });
    client = createKubeClient(await kubeconfigConnection(server.kubeconfig(), 'the server'), { timeoutMs: 30_000 });
    forget = await rememberEtcd(etcd);
  });

  afterEach(() => forget());

  afterAll(async () => {
    client?.close();
    await server?.stop();
    await etcd?.stop();
  });

  const crdsOf = async (version: string) => {
    const { files } = await openDistribution(folder ?? '').release(version);
    return [...files.values()].flat().filter(isCrd);
  };

  const install = async (crds: KubeObject[]) => {
    for (const crd of crds) await client.apply(resources.customResourceDefinitions, crd, { fieldManager });
  };

  /** Creates one object for each version that a CRD serves, and stored in that version. */
  const fill = async (crd: KubeObject) => {
    const storage = textAt(
      entriesAt(crd.spec, 'versions').find((version) => version.storage === true),
      'name',
    );
    for (const version of [...servedVersions(crd).filter((one) => one !== storage), storage ?? '']) {
      await client.mergePatch(resources.customResourceDefinitions, crd.metadata, storing(crd, version), {
        fieldManager,
      });
      const { resource, object } = objectOf(crd, version);
      const key = `${resource.group}/${resource.plural}/default/${object.metadata.name}`;
      // A changed CRD is in use a moment later.
      for (let stored: string | undefined; stored !== version; stored = (await storedInEtcd(etcd, prefix))[key]) {
        await client.delete(resource, object.metadata).catch(() => false);
        await client.apply(resource, object, { fieldManager: 'person' }).catch(() => sleep(50));
      }
    }
  };

  /** All objects of the kinds of these CRDs, by kind and name, in the version that each stores. A newer one has more defaults. */
  const everything = async (crds: KubeObject[]) => {
    const lists = await Promise.all(
      crds.map(async (crd) => {
        const storage = entriesAt(crd.spec, 'versions').find((version) => version.storage === true);
        const { resource } = objectOf(crd, textAt(storage, 'name') ?? '');
        const { items } = await vi.waitFor(() => client.list(resource), { timeout: 10_000, interval: 50 });
        return items.map(
          ({ kind, metadata: { name, uid }, spec }) => [`${resource.kind} ${name}`, { kind, uid, spec }] as const,
        );
      }),
    );
    return Object.fromEntries(lists.flat());
  };

  const untilDone = async (migrate: () => Promise<Migrated | undefined>) => {
    for (;;) {
      const migrated = await migrate();
      if (migrated?.state === 'done') return;
      if (migrated?.state === 'refused') throw new Error(migrated.sentence);
      await sleep((migrated?.recheckInSeconds ?? 0) * 1000);
    }
  };
  // The clock of the product is ahead, so that the test does not wait for long.
  const taskFor = (crds: KubeObject[], fluxVersion: string) => ({
    crds,
    fluxVersion,
    now: new Date(Date.now() + 4000),
    isTimeUp: () => false,
  });

  const upgrade = async (to: string, migrate?: (crds: KubeObject[]) => Promise<Migrated | undefined>) => {
    const crds = await crdsOf(to);
    await untilDone(() => migrate?.(crds) ?? migrateStored(client, taskFor(crds, to)));
    await install(crds);
    return crds;
  };

  const expectCurrent = async (crds: KubeObject[]) => {
    const stored = await storedInEtcd(etcd, prefix);
    expect(Object.keys(stored).length).toBeGreaterThan(crds.length);
    for (const { metadata, spec } of crds) {
      const live = await client.find(resources.customResourceDefinitions, metadata);
      const names = entriesAt(spec, 'versions').map(({ name }) => name);
      const [plural = '', ...group] = metadata.name.split('.');
      const inEtcd = Object.entries(stored).filter(([key]) => key.startsWith(`${group.join('.')}/${plural}/`));
      expect(names, metadata.name).toEqual(expect.arrayContaining(inEtcd.map(([, version]) => version)));
      expect(names).toEqual(expect.arrayContaining((fieldsAt(live, 'status')?.storedVersions as string[]) ?? []));
      expect(live?.metadata.annotations ?? {}).not.toHaveProperty('flux.extensions.gardener.cloud/migrated-up-to');
      expect(live?.metadata.annotations ?? {}).not.toHaveProperty('flux.extensions.gardener.cloud/widened-at');
    }
  };

  /** An apply fails when a manager is recorded with a version that is gone. */
  const expectApplicable = async (crds: KubeObject[], of: KubeObject[]) => {
    for (const crd of of) {
      const next = crds.find(({ metadata }) => metadata.name === crd.metadata.name) ?? crd;
      const storage = textAt(
        entriesAt(next.spec, 'versions').find((version) => version.storage === true),
        'name',
      );
      for (const version of servedVersions(crd)) {
        const { resource, object } = objectOf(next, storage ?? '');
        const metadata = { ...object.metadata, name: `stored-${version}` };
        const dropped = { ...metadata, labels: {} };
        const applied = await client.apply(resource, { ...object, metadata: dropped }, { fieldManager: 'person' });
        // The manager still owns what it applied in the former version.
        expect(applied.metadata.labels).toBeUndefined();
      }
    }
  };

  test('survive the way from the oldest release to the newest', async () => {
    const oldest = await crdsOf(versions[0] ?? '');
    await install(oldest);
    await Promise.all(oldest.map(fill));
    const before = await everything(oldest);
    expect(Object.keys(before).length).toBeGreaterThan(30);
    for (const version of versions.slice(1)) {
      const crds = await upgrade(version);
      await expectCurrent(crds);
      expect(await everything(crds)).toMatchObject(before);
    }
    await expectApplicable(await crdsOf(last), oldest);
  });

  test.each(versions.slice(0, -1))('survive the direct way from %s to the newest, killed anywhere', async (version) => {
    const former = await crdsOf(version);
    await install(former);
    await Promise.all(former.map(fill));
    const before = await everything(former);
    const receivers = (await crdsOf(last)).find(({ metadata }) => metadata.name.startsWith('receivers.')) as KubeObject;
    await expect(install([receivers])).rejects.toThrow(/status\.storedVersions.*v1beta2/);
    let lives = 0;
    const crds = await upgrade(last, async (next) => {
      lives += 1;
      try {
        return await migrateStored(dying(client, lives * 4, lives % 2 === 0), taskFor(next, last));
      } catch (error) {
        // A request of the life before may have arrived in the meantime.
        if (error === killed || error instanceof ConflictError) return undefined;
        throw error;
      }
    });
    await expectCurrent(crds);
    expect(await everything(crds)).toMatchObject(before);
    expect(lives).toBeGreaterThan(3);
    await expectApplicable(crds, former);
  });

  test('cost one look at the CRDs where no version is dropped', async () => {
    await install(await crdsOf('v2.9.4'));
    const calls: string[] = [];
    const counting = new Proxy(client as KubeClient, {
      get: (target, name: keyof KubeClient) => {
        calls.push(name);
        return target[name];
      },
    });
    const crds = await crdsOf(last);
    expect(await migrateStored(counting, taskFor(crds, last))).toEqual({ state: 'done' });
    expect(calls).toEqual(crds.map(() => 'find'));
  });
});

const killed = new Error('killed');

/** A client whose process ends with a request: before it reaches the API server, or before its answer is read. */
function dying(client: KubeClient, at: number, isAnswered: boolean): KubeClient {
  let count = 0;
  return new Proxy(client, {
    get(target, name: keyof KubeClient) {
      const call = target[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        count += 1;
        if (count > at || (count === at && !isAnswered)) throw killed;
        const answer = await call.apply(target, args);
        if (count >= at) throw killed;
        return answer;
      };
    },
  });
}
