import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Product, startProduct } from '../../infra/process/product.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { cluster, controlPlane, extension, fluxConfig, PROJECT_NAMESPACE } from '../bench/landscape/objects.ts';
import { settingsOf } from '../scenarios/context.ts';

const DEAD_SHOOTS = 300;

let clusters: Record<'garden' | 'dead' | 'alive', Cluster>;
let product: Product;

const page = async (path: string) => (await fetch(`http://127.0.0.1:${product.port}${path}`)).text();

describe('a seed of 300 Shoots', () => {
  beforeEach(async () => {
    const [garden, dead, alive] = await Promise.all([
      startCluster(gardenCrds()),
      startCluster(seedCrds()),
      startCluster(seedCrds()),
    ]);
    clusters = { garden, dead, alive };
    garden.api.objects.ensureNamespace(PROJECT_NAMESPACE);
    garden.api.objects.create(fluxConfig('Once'));
    for (let n = 0; n < DEAD_SHOOTS; n++) createShoot(dead, n);
    // Its watches are answered, so the breaker cannot help: only the slots can.
    hangs(/^shoot-flux\/(?!watcher)/);
    product = await startProduct({
      credentials: () => async (name) => clusters[name as keyof typeof clusters].connection,
      settings: settingsOf({ seeds: ['dead', 'alive'], hostKeyScan: { mode: 'off', allow: [], deny: [] } }),
      log: createLog('error', () => {}),
      port: 0,
    });
    await expect.poll(() => keys('waiting')).toBeGreaterThan(200);
  });
  afterEach(async () => {
    await product?.stop();
    await Promise.all(Object.values(clusters).map((each) => each.stop()));
  });

  /** Creates what gardenlet writes to the seed for a Shoot. */
  function createShoot({ api }: Cluster, number: number): string {
    const name = controlPlane(number);
    api.objects.ensureNamespace(name);
    api.objects.create(cluster(name) as KubeObject);
    api.objects.create(extension(name));
    return name;
  }
  const hangs = (userAgent: RegExp) =>
    clusters.dead.api.faults.add({ match: { userAgent }, action: 'hang', times: Number.POSITIVE_INFINITY });
  /** Returns the number of keys of `managed-resources` in a state. */
  async function keys(state: string): Promise<number> {
    const line = new RegExp(`queue_keys\\{function="managed-resources",state="${state}"\\} (\\d+)`);
    return Number(line.exec(await page('/metrics'))?.[1]);
  }
  /** Without a resource-manager nothing is applied, and sync objects wait for that. */
  async function untilOneIsWritten({ client }: Cluster): Promise<void> {
    const counts = async () => {
      const { items } = await client.list(resources.managedResources);
      return [...Map.groupBy(items, ({ metadata }) => metadata.namespace).values()].map(({ length }) => length);
    };
    await expect.poll(counts, { interval: 50 }).toContain(3);
  }
  /**
   * A Shoot on the other seed gets its first ManagedResources before each of the 300 has had a turn, and nothing is given
   * up.
   */
  async function expectNoDelay(): Promise<void> {
    createShoot(clusters.alive, 0);
    await untilOneIsWritten(clusters.alive);
    const asked = clusters.dead.api.requestsLike({ path: /extensions\/shoot-flux/ });
    expect(new Set(asked.map(({ path }) => path)).size).toBeLessThan(DEAD_SHOOTS);
    expect(JSON.parse(await page('/dead-letters'))).toEqual({ deadLetters: [], dropped: 0 });
  }

  it('does not delay the Shoots of another seed while its answers to functions never arrive', async () => {
    await expectNoDelay();
    expect(await page('/healthz')).toBe('ok\n');
  });

  it('is parked while nothing of it answers, and continues at once when it does', async () => {
    hangs(/^shoot-flux/);
    await expect.poll(() => keys('parked')).toBeGreaterThan(200);
    await expect.poll(() => keys('running')).toBe(0);
    await expectNoDelay();
    clusters.dead.api.faults.clear();
    await expect.poll(() => keys('parked')).toBe(0);
    await untilOneIsWritten(clusters.dead);
    expect(JSON.parse(await page('/dead-letters'))).toEqual({ deadLetters: [], dropped: 0 });
  });
});
