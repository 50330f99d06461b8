import { afterEach, beforeEach } from 'vitest';
import { type Apis, type Stage, type StageOptions, startStage } from './stage.ts';

/** Gives each test of the suite its own API servers, a stage on them and a running product; `use` receives the stage. */
export function aroundEachTest(
  startApis: () => Promise<Apis>,
  fluxDistribution: string,
  use: (stage: Stage) => void,
): void {
  const startOn = onApisOfEachTest(startApis, fluxDistribution);
  beforeEach(async () => use(await startOn()));
}

/**
 * Gives each test of the suite its own API servers. Returns what starts a stage on them with a running product, for tests
 * with different options; a test that starts another one disposes the first.
 */
export function onApisOfEachTest(
  startApis: () => Promise<Apis>,
  fluxDistribution: string,
): (options?: StageOptions) => Promise<Stage> {
  let apis: Apis;
  let stage: Stage | undefined;

  beforeEach(async () => {
    stage = undefined;
    apis = await startApis();
  });

  afterEach(async () => {
    await stage?.[Symbol.asyncDispose]();
    await apis.stop();
  });

  return async (options) => {
    stage = await startStage(apis, fluxDistribution, options);
    await stage.startProduct();
    return stage;
  };
}
