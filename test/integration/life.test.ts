import { expect, it } from 'vitest';
import { liveOneLife } from '../real/install/life.ts';
import { startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

it('leads a Shoot through its whole life on embedded API servers', async () => {
  const apis = await startEmbeddedApis();
  try {
    await using stage = await startStage(apis, ownDistribution);
    await stage.startProduct();
    const steps = await liveOneLife(stage);
    expect(steps).toEqual([
      'create',
      'config change',
      'key rotation prepared',
      'key rotation completed',
      'Flux released',
      'Flux managed again',
      'hibernate',
      'wake',
      'migrate',
      'restore',
      'remove',
    ]);
  } finally {
    await apis.stop();
  }
});
