import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import { type Apis, type Stage, startStage } from './stage.ts';

type Use = (stage: Stage) => void;

/** Gives each test of the suite its own API servers, a stage on them and a running product; `use` receives the stage. */
export function aroundEachTest(startApis: () => Promise<Apis>, fluxDistribution: string, use: Use): void {
  const { start, stop } = stageOn(startApis, fluxDistribution, use);
  beforeEach(start);
  afterEach(stop);
}

/** The same, once for all tests of the suite. */
export function aroundAllTests(startApis: () => Promise<Apis>, fluxDistribution: string, use: Use): void {
  const { start, stop } = stageOn(startApis, fluxDistribution, use);
  beforeAll(start);
  afterAll(stop);
}

/** Defines a suite in which each test has its own API servers, a stage on them and a running product. */
export const stageSuite =
  (define: (stage: Stage, fluxDistribution: string) => void) =>
  (name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void => {
    describe(name, () => {
      // The next stage takes the place of the last one in this object.
      const stage = {} as Stage;
      aroundEachTest(startApis, fluxDistribution, (next) => Object.assign(stage, next));
      define(stage, fluxDistribution);
    });
  };

function stageOn(startApis: () => Promise<Apis>, fluxDistribution: string, use: Use) {
  let apis: Apis;
  let stage: Stage | undefined;
  return {
    async start() {
      stage = undefined;
      apis = await startApis();
      stage = await startStage(apis, fluxDistribution);
      await stage.startProduct();
      use(stage);
    },
    async stop() {
      await stage?.[Symbol.asyncDispose]();
      await apis.stop();
    },
  };
}
