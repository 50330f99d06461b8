import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { testDistribution } from '../made-distribution.ts';
import type { Apis } from '../scenarios/stage.ts';
import { type RealApis, type Rights, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';

/** The API servers of one test file, emptied after each test. */
export interface Ground {
  startApis: () => Promise<Apis>;
  fluxDistribution: string;
  /** The servers; available from the first test on. */
  apis: () => RealApis;
}

const fluxDistribution = await testDistribution();

/** Suites on real API servers with real Flux releases; skipped politely where the shared data is missing. */
export function onRealApis(name: string, suites: (ground: Ground) => void, rights?: Rights): void {
  const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

  test.skipIf(isComplete)(testDataMissing, () => {});

  describe.skipIf(!isComplete)(name, () => {
    let apis: RealApis;

    beforeAll(async () => {
      apis = await startRealApis(rights);
    });

    afterAll(async () => {
      await apis?.stop();
    });

    suites({
      startApis: async () => ({ ...apis, stop: apis.forget }),
      fluxDistribution: fluxDistribution ?? '',
      apis: () => apis,
    });
  });
}
