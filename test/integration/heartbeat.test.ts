import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { keptMetrics } from '../../events/testing.ts';
import { beat, startHeartbeat } from '../../infra/process/heartbeat.ts';
import { NAMESPACE } from '../../infra/webhooks/names.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { tokenOf, usersOf } from '../scenarios/identities.ts';

/** Trap 37: an extension that publishes a condition of the Shoot must renew a Lease in its own namespace. */

interface Lease extends KubeObject {
  spec: { renewTime: string };
}

let seed: Cluster;
let restoreCheckpoint: () => void;

beforeAll(async () => {
  const { tokens, rbac } = await usersOf('seed');
  seed = await startCluster(rbac, { tokens, authorization: 'RBAC' });
  restoreCheckpoint = seed.api.checkpoint();
});
beforeEach(() => {
  restoreCheckpoint();
  seed.api.faults.clear();
});
afterAll(() => seed.stop());

const client = (signal?: AbortSignal) =>
  createKubeClient({ ...seed.connection, token: tokenOf('heartbeat') }, signal === undefined ? {} : { signal });
const lease = () =>
  seed.client.find<Lease>(resources.leases, { namespace: NAMESPACE, name: 'gardener-extension-heartbeat' });

it('creates and renews the Lease that gardenlet reads, with only the shipped rights', async () => {
  const spec = { holderIdentity: 'shoot-flux', leaseDurationSeconds: 30 };
  await beat(client(), NAMESPACE, new Date('2026-01-02T03:04:05.678Z'));
  expect((await lease())?.spec).toEqual({ ...spec, renewTime: '2026-01-02T03:04:05.678000Z' });
  await beat(client(), NAMESPACE, new Date('2026-01-02T03:04:35.678Z'));
  expect((await lease())?.spec).toEqual({ ...spec, renewTime: '2026-01-02T03:04:35.678000Z' });
});

it('does not fail when several processes renew the Lease at once', async () => {
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 4 }, () => beat(client(), NAMESPACE, new Date())));
  }
  expect(await lease()).toBeDefined();
});

it('renews the Lease after an outage, and only while the watcher is alive', async () => {
  const lines: string[] = [];
  const { metrics, sums } = keptMetrics();
  const failures = () => sums.get('heartbeat_failures_total{cluster=local}');
  let now = Date.parse('2026-01-02T03:04:05Z');
  let alive = true;
  const heartbeat = startHeartbeat({
    namespaces: { local: NAMESPACE },
    kube: async (_, signal) => client(signal),
    alive: () => alive,
    now: () => {
      now += 1000;
      return new Date(now);
    },
    log: createLog('warn', (line) => lines.push(line)),
    metrics,
    everyMs: 5,
  });
  const renewed = async () => {
    const before = (await lease())?.spec.renewTime ?? '';
    await eventually('a renewal', async () => ((await lease())?.spec.renewTime ?? '') > before);
  };
  await renewed();
  expect(failures()).toBe(0);
  seed.api.faults.add({ action: 'status', status: 503, match: { method: 'PATCH' }, times: 3 });
  await eventually('the outage is logged', async () => lines.some((line) => line.includes('503')));
  await renewed();
  expect(failures()).toBe(3);
  alive = false;
  await eventually('the reason for not renewing is logged', async () =>
    lines.some((line) => line.includes('the process makes no progress')),
  );
  const last = (await lease())?.spec.renewTime;
  await heartbeat.stop();
  expect((await lease())?.spec.renewTime).toBe(last);
});

it('does not wait for another seed that does not respond', async () => {
  seed.api.faults.add({ action: 'hang', match: { path: /namespaces\/hanging\// }, times: 99 });
  const heartbeat = startHeartbeat({
    namespaces: { hanging: 'hanging', local: NAMESPACE },
    kube: async (_, signal) => client(signal),
    alive: () => true,
    now: () => new Date(),
    log: createLog('error'),
    metrics: noMetrics,
    everyMs: 5,
  });
  await eventually('the first beat', async () => (await lease()) !== undefined);
  const first = (await lease())?.spec.renewTime ?? '';
  await eventually('the second beat', async () => ((await lease())?.spec.renewTime ?? '') > first);
  await heartbeat.stop();
});
