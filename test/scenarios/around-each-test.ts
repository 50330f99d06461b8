import { afterEach, beforeEach } from 'vitest';
import { type Apis, type Stage, startStage } from './stage.ts';

/** Gives each test of the suite its own API servers, a stage on them and a running product; `use` receives the stage. */
export function aroundEachTest(
  startApis: () => Promise<Apis>,
  fluxDistribution: string,
  use: (stage: Stage) => void,
): void {
  let apis: Apis;
  let stage: Stage | undefined;

  beforeEach(async () => {
    stage = undefined;
    apis = await startApis();
    stage = await startStage(apis, fluxDistribution);
    await stage.startProduct();
    use(stage);
  });

  afterEach(async () => {
    await stage?.[Symbol.asyncDispose]();
    await apis.stop();
  });
}
