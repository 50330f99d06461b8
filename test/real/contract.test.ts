import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { contractSuite } from '../scenarios/contract.ts';
import { referencesSuite } from '../scenarios/references.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { refused } from './rights.ts';
import { sharedData, sharedDataMissing } from './shared-data.ts';
import { upgradeSuite } from './upgrades.ts';

const fluxDistribution = sharedData('flux');
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(sharedDataMissing, () => {});

describe.skipIf(!isComplete)('real API servers, real releases, through the life of a Shoot', () => {
  let apis: RealApis;

  beforeAll(async () => {
    apis = await startRealApis();
  });

  afterAll(async () => {
    await apis?.stop();
  });

  const start = async () => ({ ...apis, stop: apis.forget });
  contractSuite("Gardener's contract", start, fluxDistribution ?? '');
  referencesSuite('references', start, fluxDistribution ?? '');
  upgradeSuite(start, fluxDistribution ?? '');

  it('the shipped rights suffice: nothing was refused', async () => {
    expect(await refused(apis.servers)).toEqual([]);
  });
});
