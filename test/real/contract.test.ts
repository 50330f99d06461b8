import { expect, it } from 'vitest';
import { contractSuite } from '../scenarios/contract.ts';
import { overridesSuite } from '../scenarios/overrides.ts';
import { referencesSuite } from '../scenarios/references.ts';
import { onRealApis } from './on-real-apis.ts';
import { refused } from './rights.ts';
import { upgradeSuite } from './upgrades.ts';

onRealApis('real API servers, real releases, through the life of a Shoot', (ground) => {
  const { startApis, fluxDistribution, apis } = ground;
  contractSuite("Gardener's contract", startApis, fluxDistribution);
  referencesSuite('references', startApis, fluxDistribution);
  overridesSuite('overrides', startApis, fluxDistribution);
  upgradeSuite(ground);

  it('needs no more than the shipped rights', async () => {
    expect(await refused(apis().servers)).toEqual([]);
  });
});
