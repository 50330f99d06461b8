import { overridesSuite } from '../scenarios/overrides.ts';
import { referencesSuite } from '../scenarios/references.ts';
import { onRealApis, rightsSuffice } from './on-real-apis.ts';

onRealApis('real API servers, real releases', (ground) => {
  referencesSuite('references', ground.startApis, ground.fluxDistribution);
  overridesSuite('overrides', ground.startApis, ground.fluxDistribution);
  rightsSuffice(ground);
});
