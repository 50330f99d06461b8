import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Product, startProduct } from '../../infra/process/product.ts';
import { createLog } from '../../shared/runtime/log.ts';

const nothing = { server: 'https://127.0.0.1:1', token: 'x' };

let clusters: Record<string, Cluster>;
let product: Product;

beforeEach(async () => {
  const [garden, alive] = await Promise.all([startCluster(gardenCrds()), startCluster(seedCrds())]);
  clusters = { garden, alive };
});
afterEach(async () => {
  await product?.stop();
  await Promise.all(Object.values(clusters).map((each) => each.stop()));
});

/** Starts the product; clusters of these names do not answer. */
async function startWithout(dead: string[]): Promise<void> {
  product = await startProduct({
    credentials: () => async (name) => (dead.includes(name) ? nothing : clusters[name]?.connection) ?? nothing,
    settings: {
      ...{ landscape: 'test', seeds: ['alive', 'dead'], fluxDistribution: standInDistribution.folder },
      ...{ shootHealth: false, shootAccess: 'external' },
      hostKeyScan: { mode: 'off', allow: [], deny: [] },
    },
    log: createLog('error', () => {}),
    port: 0,
  });
}

function readyz(): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  get(`http://127.0.0.1:${product.port}/readyz`, { agent: false }, async (response) =>
    resolve({ status: response.statusCode ?? 0, body: await text(response) }),
  ).on('error', reject);
  return promise;
}

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 50 });

test('/readyz is 200 while one seed does not answer, and names it', async () => {
  await startWithout(['dead']);
  await until(async () => {
    const { status, body } = await readyz();
    expect(body).toMatch(/^not ready dead extensions: .*(ECONNREFUSED|has not answered)/m);
    expect(body).toMatch(/^ok alive extensions: 0 objects$/m);
    expect(status).toBe(200);
  });
});

test('/readyz is 503 while the garden does not answer', async () => {
  await startWithout(['garden', 'dead']);
  await until(async () => {
    const { status, body } = await readyz();
    expect(body).toMatch(/^ok alive extensions: 0 objects$/m);
    expect(body).toMatch(/^not ready garden configmaps flux-config: /m);
    expect(status).toBe(503);
  });
});
