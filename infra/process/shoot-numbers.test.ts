import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definitionOf } from '../../events/testing.ts';
import { type ListWatch, onExtensions, startListWatch, watching } from '../../events/watcher/testing.ts';
import { fluxStatusSubscription } from '../../shared/config/project-config.ts';
import { LANDSCAPE_PHASE, ROLLOUT_PHASE } from '../../shared/gardener/rollout.ts';
import { appliedFactory, conditionFactory, lastOperationFactory } from '../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Subscription } from '../../shared/runtime/definition.ts';
import { createPrometheusMetrics } from './metrics.ts';
import { createShootNumbers, MOST_PROJECTS } from './shoot-numbers.ts';

const START = Date.parse('2026-01-02T03:00:00Z');
const at = (seconds: number) => `${new Date(START + seconds * 1000).toISOString().slice(0, 19)}Z`;
const isTrue = conditionFactory({ type: 'FluxReady', message: 'Ready (config c0ffee)', lastTransitionTime: at(0) });
const ready: ExtensionStatus = {
  lastOperation: lastOperationFactory({ type: 'Reconcile', lastUpdateTime: at(0) }),
  state: { applied: appliedFactory({ fluxVersion: 'v2.9.4' }) },
  conditions: [isTrue],
};
const failing = (codes?: string[]): ExtensionStatus => ({
  ...ready,
  conditions: [{ ...isTrue, status: 'False', ...(codes && { codes }) }],
});
const unchecked: ExtensionStatus = { ...ready, conditions: [] };
const processing: ExtensionStatus = {
  ...unchecked,
  lastOperation: lastOperationFactory({ type: 'Reconcile', state: 'Processing', lastUpdateTime: at(0) }),
};

let api: ListWatch;
let now: number;
let watcher: ReturnType<typeof watching> | undefined;
let metrics: ReturnType<typeof createPrometheusMetrics>;
let numbers: ReturnType<typeof createShootNumbers>;
beforeEach(async () => {
  api = await startListWatch();
  now = START;
});
afterEach(async () => {
  await watcher?.stop();
  watcher = undefined;
  await api[Symbol.asyncDispose]();
});

const onClusters: Subscription = {
  in: 'seed',
  resource: resources.clusters,
  wakes: () => [],
  keys: () => [],
};

function start() {
  metrics = createPrometheusMetrics();
  numbers = createShootNumbers(metrics, ['v2.9.4'], () => now);
  const status = definitionOf('fan-out', { subscriptions: [fluxStatusSubscription], resync: false });
  const clusters = { garden: true, seeds: ['seed'] };
  const following = definitionOf('follows', { subscriptions: [onClusters], resync: false });
  watcher = watching(api, [onExtensions(), status, following], { clusters, observerOf: numbers.observerOf });
}

/** The metrics whose names begin so, without those of buckets. */
async function lines(name: string): Promise<string[]> {
  numbers.collect();
  const { text } = await metrics.expose();
  return text.split('\n').filter((line) => line.startsWith(`shoot_flux_${name}`) && !line.includes('_bucket'));
}
const eventually = (name: string) => expect.poll(() => lines(name), { timeout: 240_000, interval: 10 });
const shoot = (name: string, status: ExtensionStatus, metadata: object = {}) =>
  api.put(resources.extensions, {
    metadata: { namespace: `shoot--${name}`, name: 'shoot-flux', ...metadata },
    spec: { type: 'shoot-flux' },
    status,
  });
const asked = (seconds: number) => ({
  annotations: { 'gardener.cloud/operation': 'reconcile', 'gardener.cloud/timestamp': at(seconds) },
});

describe('the Shoots of a seed', () => {
  it('are counted by project, state and Flux version, and no longer once they are gone', async () => {
    shoot('a--one', ready);
    shoot('a--two', ready);
    const gone = shoot('b--three', failing(['ERR_CONFIGURATION_PROBLEM']));
    shoot('b--four', { lastOperation: lastOperationFactory({ state: 'Processing' }) });
    start();
    const of = (project: string, state: string, version: string, value: number) =>
      `shoot_flux_shoots{cluster="seed",project="${project}",state="${state}",flux_version="${version}"} ${value}`;
    await eventually('shoots{').toEqual([
      of('a', 'ready', 'v2.9.4', 2),
      of('b', 'needs_user', 'v2.9.4', 1),
      of('b', 'progressing', 'none', 1),
    ]);
    api.remove(resources.extensions, gone);
    await eventually('shoots{').toHaveLength(2);
  });

  it('fail only after a while, and are overdue after half an hour', async () => {
    shoot('a--one', failing());
    start();
    await eventually('shoots{').toEqual([expect.stringContaining('state="progressing"')]);
    now = START + 299_000;
    expect((await lines('shoots{'))[0]).toContain('state="progressing"');
    now = START + 300_000;
    expect((await lines('shoots{'))[0]).toContain('state="not_ready"');
    now = START + 1799_000;
    expect(await lines('shoots_overdue{')).toEqual([]);
    now = START + 1800_000;
    expect(await lines('shoots_overdue{')).toEqual([
      'shoot_flux_shoots_overdue{cluster="seed",project="a",state="not_ready"} 1',
    ]);
  });

  it('of too many projects share a name', async () => {
    for (let index = 0; index < MOST_PROJECTS + 5; index++) shoot(`p${index}--one`, ready);
    shoot('big--one', ready);
    shoot('big--two', ready);
    start();
    await eventually('shoots{').toHaveLength(MOST_PROJECTS + 1);
    const counts = (await lines('shoots{')).map((line) => /project="(\w+)".*} (\d+)/.exec(line)?.slice(1).join(' '));
    expect(counts).toEqual(expect.arrayContaining(['big 2', 'other 6']));
  });

  it('are behind where their Flux lacks a fix', async () => {
    shoot('a--one', { ...ready, state: { applied: appliedFactory({ fluxVersion: 'v2.9.3' }) } });
    shoot('a--two', ready);
    start();
    const of = (reason: string) => `shoot_flux_shoots_behind{cluster="seed",project="a",reason="${reason}"} 1`;
    await eventually('shoots_behind').toEqual([of('patch')]);
  });

  it('are behind where their Flux does not support their Kubernetes, until their Cluster is gone', async () => {
    const runs = (name: string, version: string) =>
      api.put(resources.clusters, {
        metadata: { name: `shoot--${name}` },
        spec: { shoot: { metadata: { name: 'one' }, spec: { kubernetes: { version } } } },
      });
    shoot('a--one', ready);
    shoot('b--one', ready);
    const newer = runs('a--one', '1.37.1');
    runs('b--one', '1.36.1');
    start();
    const of = (project: string) =>
      `shoot_flux_shoots_behind{cluster="seed",project="${project}",reason="kubernetes"} 1`;
    await eventually('shoots_behind').toEqual([of('a')]);
    runs('b--one', '1.33.2');
    api.remove(resources.clusters, newer);
    await eventually('shoots_behind').toEqual([of('b')]);
  });
});

describe('a request', () => {
  const sum = (name: string, operation: string, seconds: number) => [
    `shoot_flux_request_${name}_seconds_sum{cluster="seed",operation="${operation}"} ${seconds}`,
    `shoot_flux_request_${name}_seconds_count{cluster="seed",operation="${operation}"} 1`,
  ];

  it('of gardenlet counts from its timestamp, also when the process began later', async () => {
    now = START + 5_000;
    shoot('a--one', {}, asked(0));
    start();
    await eventually('shoots{').toHaveLength(1);
    shoot('a--one', { ...processing, lastOperation: lastOperationFactory({ state: 'Processing' }) });
    now = START + 20_000;
    shoot('a--one', { ...unchecked, lastOperation: lastOperationFactory() });
    await eventually('request_applied').toEqual(sum('applied', 'Create', 20));
    expect(await lines('request_ready')).toEqual([]);
    now = START + 50_000;
    shoot('a--one', { ...ready, lastOperation: lastOperationFactory() });
    await eventually('request_ready').toEqual(sum('ready', 'Create', 50));
  });

  it('by an edit counts from the first sight of its operation', async () => {
    shoot('a--one', ready);
    start();
    await eventually('shoots{').toHaveLength(1);
    shoot('a--one', processing);
    await eventually('shoots{').toEqual([expect.stringContaining('"progressing"')]);
    now = START + 7_000;
    shoot('a--one', ready);
    await eventually('request_ready').toEqual(sum('ready', 'Reconcile', 7));
  });

  it('whose begin nobody has seen, or that a user had to correct first, is not measured', async () => {
    shoot('a--one', processing);
    shoot('a--two', failing(['ERR_CONFIGURATION_PROBLEM']));
    start();
    await eventually('shoots{').toHaveLength(2);
    shoot('a--one', processing);
    shoot('a--one', ready);
    shoot('a--two', ready);
    await eventually('shoots{').toEqual([expect.stringContaining('state="ready",flux_version="v2.9.4"} 2')]);
    expect(await lines('request_')).toEqual([]);
  });
});

it('rollouts are counted by the label of flux-status', async () => {
  const status = (namespace: string, phase?: string) =>
    api.put(resources.configMaps, {
      metadata: { namespace, name: 'flux-status', labels: phase === undefined ? {} : { [ROLLOUT_PHASE]: phase } },
    });
  status('garden-a', 'paused');
  status('garden-b', 'in-progress');
  status('garden-c', 'in-progress');
  start();
  const counted = (inProgress: number, paused: number) =>
    eventually('rollouts').toEqual([
      `shoot_flux_rollouts{state="in_progress"} ${inProgress}`,
      `shoot_flux_rollouts{state="paused"} ${paused}`,
    ]);
  await counted(2, 1);
  status('garden-a');
  await counted(2, 0);
});

it('the rollout of the landscape has a number of its own', async () => {
  const labels = { [LANDSCAPE_PHASE]: 'paused' };
  api.put(resources.configMaps, { metadata: { namespace: 'garden', name: 'flux-status', labels } });
  start();
  await eventually('landscape_rollout').toEqual([
    'shoot_flux_landscape_rollout{state="in_progress"} 0',
    'shoot_flux_landscape_rollout{state="paused"} 1',
  ]);
});
