import { describe, expect, it, onTestFinished } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { describeKilled } from '../scenarios/killed.ts';
import { publicRepository, startStage } from '../scenarios/stage.ts';
import { differences } from '../scenarios/world/end-state.ts';
import { type Lifecycle, lifecycles } from '../scenarios/world/lifecycles.ts';
import { runLifecycle } from '../scenarios/world/run-lifecycle.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

const named = (list: Lifecycle[]) => list.map((lifecycle) => [lifecycle.name, lifecycle] as const);

describe('two instances at once', () => {
  it.for(named(lifecycles))('end like a single one, and calm down: %s', async ([, lifecycle]) => {
    const one = await runLifecycle(lifecycle);
    const two = await runLifecycle(lifecycle, { twoInstances: true });
    expect([...two.violations, ...differences(one.end, two.end)]).toEqual([]);
  });

  it('install Flux in a Shoot, each with its own queue and watches, and then do nothing more', async () => {
    const apis = await startEmbeddedApis();
    onTestFinished(() => apis.stop());
    await using stage = await startStage(apis, ownDistribution);
    const first = await stage.startProduct();
    await stage.startProduct();
    try {
      await stage.setFluxConfig(publicRepository);
      await stage.deliver();
      await stage.bootstrap();
      await stage.untilManagedResources('shoot-flux-secrets', 'shoot-flux-sync');
      await stage.quiet();
      expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
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
