import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Migrated, migrateStored } from '../../functions/managed-resources/shoot/migrate-stored.ts';
import { allBehaviourChanges, behaviourChanges } from '../../shared/flux/behaviour-changes.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { compareVersions } from '../../shared/flux/versions.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { useApiServers, withTestData } from './on-real-apis.ts';
import {
  crdsOf,
  everything,
  fill,
  notCurrent,
  objectOf,
  servedVersions,
  storageOf,
  storedInEtcd,
} from './upgrades/stored-objects.ts';

const fieldManager = 'upgrade';
const prefix = 'migration';
const allComponents = [...new Set(allBehaviourChanges.map(({ component }) => component))];

withTestData('objects in every version of every release, on a real API server', async (distribution) => {
  const used = useApiServers({ [prefix]: {} });
  const versions = (await openDistribution(distribution).versions())
    .filter((version) => version !== 'v2.9.2')
    .sort(compareVersions);
  const last = versions.at(-1) ?? '';

  afterEach(() => used.forget());

  const client = () => used.clients[prefix];
  const store = () => ({ etcd: used.etcd, prefix, client: client() });
  const install = async (crds: KubeObject[]) => {
    for (const crd of crds) await client().apply(resources.customResourceDefinitions, crd, { fieldManager });
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

  const expectCurrent = async (crds: KubeObject[]) => {
    expect(Object.keys(await storedInEtcd(used.etcd, prefix)).length).toBeGreaterThan(crds.length);
    expect(await notCurrent(store(), crds)).toEqual([]);
  };

  /** An apply fails when a manager is recorded with a version that is gone. */
  const expectApplicable = async (crds: KubeObject[], of: KubeObject[]) => {
    for (const crd of of) {
      const next = crds.find(({ metadata }) => metadata.name === crd.metadata.name) ?? crd;
      for (const version of servedVersions(crd)) {
        const { resource, object } = objectOf(next, storageOf(next) ?? '');
        const metadata = { ...object.metadata, name: `stored-${version}` };
        const dropped = { ...metadata, labels: {} };
        const applied = await client().apply(resource, { ...object, metadata: dropped }, { fieldManager: 'person' });
        // The manager still owns what it applied in the former version.
        expect(applied.metadata.labels).toBeUndefined();
      }
    }
  };

  test.each(versions.slice(0, -1))('survive the direct way from %s to the newest, killed anywhere', async (version) => {
    const former = await crdsOf(distribution, version);
    await install(former);
    await Promise.all(former.map((crd) => fill(store(), crd)));
    const before = await everything(client(), former);
    const receivers = (await crdsOf(distribution, last)).find(({ metadata }) =>
      metadata.name.startsWith('receivers.'),
    ) as KubeObject;
    await expect(install([receivers])).rejects.toThrow(/status\.storedVersions.*v1beta2/);
    let lives = 0;
    const crds = await crdsOf(distribution, last);
    await untilDone(async () => {
      lives += 1;
      try {
        return await migrateStored(dying(client(), lives * 4, lives % 2 === 0), taskFor(crds, last));
      } catch (error) {
        // A request of the life before may have arrived in the meantime.
        if (error === killed || error instanceof ConflictError) return undefined;
        throw error;
      }
    });
    await install(crds);
    await expectCurrent(crds);
    expect(await everything(client(), crds)).toMatchObject(before);
    expect(lives).toBeGreaterThan(3);
    await expectApplicable(crds, former);
  });

  test.each(versions.slice(1).map((version, index) => [versions[index] ?? '', version]))(
    'are announced where manifests have to change from %s to %s, and nothing else is announced as dropped',
    async (from, to) => {
      const [former, next] = [await crdsOf(distribution, from), await crdsOf(distribution, to)];
      const gone = former.flatMap((crd) => {
        const kept = next.find(({ metadata }) => metadata.name === crd.metadata.name);
        const left = kept === undefined ? [] : servedVersions(kept);
        const kind = textAt(crd.spec, 'names', 'kind');
        return servedVersions(crd).flatMap((version) => (left.includes(version) ? [] : [`${version} ${kind}`]));
      });
      const announced = behaviourChanges(from, to, allComponents).flatMap(({ change }) => {
        const [, version, kinds = ''] = /^the API no longer has (\S+) of (.*)$/.exec(change) ?? [];
        return kinds.split(/, | and /).flatMap((kind) => (version === undefined ? [] : [`${version} ${kind}`]));
      });
      expect(announced.sort()).toEqual(gone.sort());
    },
  );

  test('cost one look at the CRDs where no version is dropped', async () => {
    await install(await crdsOf(distribution, 'v2.9.4'));
    const calls: string[] = [];
    const counting = new Proxy(client() as KubeClient, {
      get: (target, name: keyof KubeClient) => {
        calls.push(name);
        return target[name];
      },
    });
    const crds = await crdsOf(distribution, last);
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
