import { join } from 'node:path';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { gitRepositories, kustomizations, quiet } from '../scenarios/main-job.ts';
import { eventually, startStage } from '../scenarios/stage.ts';
import { differences } from '../scenarios/world/end-state.ts';
import { killEverywhere, lead } from '../scenarios/world/kill-everywhere.ts';
import { type Life, lives } from '../scenarios/world/lives.ts';

const named = (list: Life[]) => list.map((life) => [life.name, life] as const);

describe('two products at once', () => {
  it.for(named(lives))('end as one does, and calm down: %s', async ([, life]) => {
    const one = await lead(life);
    const two = await lead(life, { twins: true });
    expect([...two.violations, ...differences(one.end, two.end)]).toEqual([]);
  });

  it('bring Flux into a Shoot, each with its own queue and watches, and then do nothing more', async () => {
    await using garden = await startKubeApi({ objects: gardenCrds() as JsonObject[] });
    await using seed = await startKubeApi({ objects: seedCrds() as JsonObject[] });
    await using shoot = await startKubeApi({ namespaceController: true });
    const apis = { garden, seed, shoot, stop: async () => {} };
    await using stage = await startStage(apis, join(import.meta.dirname, '../landscape/distribution'));
    const first = await stage.startProduct();
    await stage.startProduct();
    try {
      await stage.setFluxConfig({
        repositoryUrl: 'https://git.example.com/fleet',
        repositoryBranch: 'main',
        repositoryType: 'public',
      });
      await stage.reconcileShoot();
      await stage.untilReady();
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually(
        'Flux is let go',
        async () => Object.keys(await stage.managedResources()),
        (names) => names.join() === 'shoot-flux-secrets',
      );
      await quiet(stage);
      const deployment = { namespace: 'flux-system', name: 'source-controller' };
      expect(await stage.shoot.find(resources.deployments, deployment)).toBeDefined();
      expect(stage.logLines.filter((line) => line.includes('"dead_letter"'))).toEqual([]);
    } finally {
      await first.stop();
    }
  });
});

/**
 * A run that is held up for longer than its messages stay hidden: the next run of the key begins beside it, and the
 * first one goes on at the worst of moments, when all is over, with what it has read long ago.
 */
describe('a run that overruns its lease', () => {
  it.for(named(lives))('ends last: %s', { timeout: 60_000 }, async ([, life]) => {
    expect((await killEverywhere(life, 'late')).deviations).toEqual([]);
  });

  it.for(named(lives.filter(({ mayHurry }) => mayHurry)))(
    'is overtaken by all that happens: %s',
    { timeout: 60_000 },
    async ([, life]) => {
      expect((await killEverywhere(life, 'overtaken')).deviations).toEqual([]);
    },
  );
});
