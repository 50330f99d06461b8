import { contractSuite } from '../scenarios/contract.ts';
import { onRealApis, rightsSuffice } from './on-real-apis.ts';

onRealApis('real API servers, real releases, through the life of a Shoot', (ground) => {
  contractSuite("Gardener's contract", ground.startApis, ground.fluxDistribution);
  rightsSuffice(ground);
});
