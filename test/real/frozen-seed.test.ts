import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Product, startProduct } from '../../infra/process/product.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import {
  cluster,
  controlPlane,
  extension,
  fluxConfig,
  namespace,
  PROJECT_NAMESPACE,
} from '../bench/landscape/objects.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { gardenCrds, installCrds, seedCrds } from './cluster/crds.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';

const FROZEN_SHOOTS = 10;
/** In seconds on a machine that is not busy; a breaker that does not exist would need minutes. */
const patience = { timeout: 60_000, interval: 100 };
const write = { fieldManager: 'gardenlet' };
const places = ['garden', 'frozen', 'healthy'] as const;
type Place = (typeof places)[number];

test.skipIf(seedCrds() !== undefined)(testDataMissing, () => {});

describe.skipIf(seedCrds() === undefined)('a seed whose real API server is stopped', () => {
  let etcd: Etcd;
  let product: Product | undefined;
  const servers = {} as Record<Place, ApiServer>;
  const clients = {} as Record<Place, HttpKubeClient>;
  const connection = (place: Place) => {
    const { url, ca, adminToken } = servers[place];
    return { server: url, ca, token: adminToken };
  };

  beforeAll(async () => {
    etcd = await startEtcd();
    await Promise.all(
      places.map(async (place) => {
        servers[place] = await startApiServer({ etcd, prefix: place });
        clients[place] = createKubeClient(connection(place));
        await installCrds(servers[place], place === 'garden' ? gardenCrds : (seedCrds() ?? []));
      }),
    );
  });

  afterAll(async () => {
    if (servers.frozen !== undefined) process.kill(servers.frozen.pid, 'SIGCONT');
    await product?.stop();
    for (const client of Object.values(clients)) client.close();
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    await etcd?.stop();
  });

  /** Writes the objects that gardenlet writes for a Shoot. */
  const createShoot = async (place: Place, number: number) => {
    const name = controlPlane(number);
    await clients[place].create(resources.namespaces, namespace(name), write);
    const object = cluster(name);
    await clients[place].create(resources.clusters, object as KubeObject, write);
    // The name of the seed decides where an edit of flux-config is sent.
    const { shoot } = object.spec;
    const inGarden = {
      ...shoot,
      metadata: { ...shoot.metadata, name: `${place}-${number}` },
      spec: { ...shoot.spec, seedName: place },
    };
    await clients.garden.apply(resources.shoots, inGarden as unknown as KubeObject, write);
    await clients[place].create(resources.extensions, extension(name), write);
  };

  /** The Secret with the CRDs of a Shoot; its name has a hash of the content. */
  const crds = async (place: Place, number: number) => {
    const name = { namespace: controlPlane(number), name: managedResourceNames.crds };
    const found = await clients[place].find<ManagedResource>(resources.managedResources, name);
    return found?.spec.secretRefs[0]?.name;
  };
  const all = (place: Place, count: number) =>
    Promise.all(Array.from({ length: count }, (_, number) => crds(place, number)));

  it('delays no other seed, and its own Shoots follow within seconds of its return', async () => {
    await clients.garden.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    const configMap = fluxConfig('Once');
    await clients.garden.create(resources.configMaps, configMap, write);
    for (let number = 0; number < FROZEN_SHOOTS; number++) await createShoot('frozen', number);
    await createShoot('healthy', 0);
    product = await startProduct({
      credentials: () => async (name) => connection(name as Place),
      settings: {
        ...{ landscape: 'test', seeds: ['frozen', 'healthy'], fluxDistribution: standInDistribution.folder },
        ...{ shootHealth: false, shootAccess: 'external' },
        hostKeyScan: { mode: 'off', allow: [], deny: [] },
      },
      log: createLog('error', () => {}),
    });
    await expect.poll(() => all('frozen', FROZEN_SHOOTS), patience).not.toContain(undefined);
    await expect.poll(() => crds('healthy', 0), patience).toBeDefined();
    const before = await all('frozen', FROZEN_SHOOTS);
    const healthy = await crds('healthy', 0);

    process.kill(servers.frozen.pid, 'SIGSTOP');
    await createShoot('healthy', 1);
    await expect.poll(() => crds('healthy', 1), patience).toBeDefined();
    const data = { components: 'source-controller,kustomize-controller' };
    await clients.garden.mergePatch(resources.configMaps, configMap.metadata, { data }, write);
    await expect.poll(() => crds('healthy', 0), patience).not.toBe(healthy);

    process.kill(servers.frozen.pid, 'SIGCONT');
    const unchanged = async () => {
      const after = await all('frozen', FROZEN_SHOOTS);
      return before.filter((name, number) => name === after[number]);
    };
    await expect.poll(unchanged, patience).toEqual([]);
  });
});
