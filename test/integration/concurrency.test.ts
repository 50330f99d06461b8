import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { describeKilled } from '../scenarios/killed.ts';
import { eventually, startStage } from '../scenarios/stage.ts';
import { differences } from '../scenarios/world/end-state.ts';
import { type Lifecycle, lifecycles } from '../scenarios/world/lifecycles.ts';
import { runLifecycle } from '../scenarios/world/run-lifecycle.ts';

const named = (list: Lifecycle[]) => list.map((lifecycle) => [lifecycle.name, lifecycle] as const);

describe('two instances at once', () => {
  it.for(named(lifecycles))('end like a single one, and calm down: %s', async ([, lifecycle]) => {
    const one = await runLifecycle(lifecycle);
    const two = await runLifecycle(lifecycle, { twoInstances: true });
    expect([...two.violations, ...differences(one.end, two.end)]).toEqual([]);
  });

  it('install Flux in a Shoot, each with its own queue and watches, and then do nothing more', async () => {
    await using garden = await startKubeApi({ objects: gardenCrds() as JsonObject[] });
    await using seed = await startKubeApi({ objects: seedCrds() as JsonObject[] });
    await using shoot = await startKubeApi({ namespaceController: true });
    const apis = { garden, seed, shoot, stop: async () => {} };
    await using stage = await startStage(apis, standInDistribution.folder);
    const first = await stage.startProduct();
    await stage.startProduct();
    try {
      await stage.setFluxConfig({
        repositoryUrl: 'https://git.example.com/fleet',
        repositoryBranch: 'main',
        repositoryType: 'public',
      });
      await stage.deliver();
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually(
        'Flux is released',
        async () => Object.keys(await stage.managedResources()),
        (names) => names.sort().join() === 'shoot-flux-secrets,shoot-flux-sync',
      );
      await stage.quiet();
      const deployment = { namespace: 'flux-system', name: 'source-controller' };
      expect(await stage.shoot.find(resources.deployments, deployment)).toBeDefined();
      expect(stage.logLines.filter((line) => line.includes('"dead_letter"'))).toEqual([]);
    } finally {
      await first.stop();
    }
  });
});

/**
 * A run that takes longer than its messages stay hidden: the next run of the key begins beside it, and the first one
 * continues at the worst moment, after everything else, with what it read long ago.
 */
const othersFirst = true;
describeKilled('a run that overruns its lease', lifecycles, ['late'], { othersFirst, queue: 'sqs' });
const mayHappenAtOnce = lifecycles.filter((lifecycle) => lifecycle.mayHappenAtOnce);
describeKilled('a run that all other steps overtake', mayHappenAtOnce, ['overtaken'], { othersFirst, queue: 'sqs' });
