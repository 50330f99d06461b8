import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { testDistribution } from '../../made-distribution.ts';
import { grants, rightsOf } from '../../scenarios/needed-rights.ts';
import { eventually, startStage } from '../../scenarios/stage.ts';
import { seedCrds } from '../cluster/crds.ts';
import { needsOf } from '../rights.ts';
import { bridges } from './chart-bridges.ts';
import { type ChartLandscape, podUsers, startChartLandscape } from './chart-landscape.ts';
import { landscapeValues, obeysOperators } from './chart-policy.ts';
import { liveOneLife } from './life.ts';
import { applyObjects } from './objects.ts';
import type { Pod } from './pod.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('the chart of one Deployment per seed', () => {
  let landscape: ChartLandscape;
  beforeAll(async () => {
    landscape = await startChartLandscape();
  });
  afterAll(async () => {
    await landscape?.stop();
  });

  /** Does something beside the Pod, which `next` replaces; an error has its output. */
  async function besidePod(act: (pod: () => Pod, next: () => Promise<void>) => Promise<void>): Promise<void> {
    const start = () => landscape.start('shoot-flux', ['--flux-distribution', fluxDistribution ?? '']);
    let pod = await start();
    const next = async () => {
      await pod.stop();
      pod = await start();
    };
    try {
      await act(() => pod, next);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${await pod.output()}`, { cause: error });
    } finally {
      await pod.stop();
    }
  }

  it('carries a Shoot through its life with nothing but the rendered rights, killed at random', async () => {
    await landscape.install({ config: { shootHealth: true, logLevel: 'debug' } });
    await using stage = await startStage(landscape.apis, '');
    await besidePod(async (pod, next) => {
      const disturb = async () => {
        await sleep(randomInt(1500));
        await next();
      };
      expect(await liveOneLife(stage, { disturb })).toContain('remove');
      await eventually('it is ready', pod().readyz, (code) => code === 200);
    });
  });

  it('enforces the defaults and the policy of its values, and delivers the pull secret', async () => {
    await landscape.install({ ...landscapeValues, config: { logLevel: 'debug' } });
    await using stage = await startStage(landscape.apis, '');
    await besidePod((pod) => obeysOperators(stage, pod().output));
  });

  it.each(Object.entries(bridges))('starts in mode %s with what it renders, and becomes ready', async (_, open) => {
    await using bridge = await open();
    await applyObjects(landscape.apis.servers.seed, bridge.objects);
    await landscape.install(bridge.values);
    await using stage = await startStage(landscape.apis, '');
    await stage.setFluxConfig({ repositoryUrl: 'https://git.example.com/fleet' });
    const pod = await landscape.start('shoot-flux', bridge.flags);
    try {
      await eventually('its first line', pod.output, (said) => said.startsWith(`${bridge.line}, probes and metrics`));
      await eventually('it is ready', pod.readyz, (code) => code === 200);
      await expect.poll(bridge.arrived).toMatchObject(bridge.proof);
    } finally {
      await pod.stop();
    }
  });

  it('serves the webhooks with what it renders', async () => {
    const pod = await landscape.start('shoot-flux-webhooks', ['--webhook-port', '0']);
    try {
      await eventually('its first line', pod.output, (said) =>
        said.startsWith('shoot-flux serves /resource-manager on port '),
      );
      await eventually('it is ready', pod.readyz, (code) => code === 200);
    } finally {
      await pod.stop();
    }
  });

  const ourEntries = async (place: 'garden' | 'seed') =>
    (await landscape.apis.servers[place].auditEntries()).filter(({ userAgent }) => userAgent.startsWith('shoot-flux/'));

  it.each(['garden', 'seed'] as const)('was refused nothing in the %s, and used no other identities', async (place) => {
    const entries = await ourEntries(place);
    expect([...new Set(entries.map(({ user }) => user))].sort()).toEqual(podUsers[place]);
    const refused = entries.filter(({ code }) => code === 401 || code === 403);
    expect(refused.map(({ verb, requestUri }) => `${verb} ${requestUri}`)).toEqual([]);
  });

  it.each(['garden', 'seed'] as const)(
    'had each right in the %s from the role that the server names',
    async (place) => {
      const rights = rightsOf(landscape.rights[place]);
      const entries = (await ourEntries(place)).filter(({ resource }) => resource !== '');
      expect(entries.length).toBeGreaterThan(10);
      const wrong = entries.flatMap((entry) => {
        const [, role] = /(?:ClusterRole|Role) "([^"]+)" to ServiceAccount/.exec(entry.reason) ?? [];
        const [need] = needsOf(entry);
        const isOurs = rights.some((right) => right.role === role && need !== undefined && grants(right, need));
        return isOurs ? [] : [`${entry.verb} ${entry.requestUri}: ${entry.reason}`];
      });
      expect(wrong.slice(0, 10)).toEqual([]);
    },
  );
});
