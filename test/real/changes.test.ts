import { changesSuite } from '../scenarios/changes.ts';
import { foreignSuite } from '../scenarios/foreign.ts';
import { protectionSuite } from '../scenarios/protection.ts';
import { startRealApis } from './apis.ts';
import { chartRights } from './install/chart-rights.ts';
import { onRealApis, rightsSuffice } from './on-real-apis.ts';

onRealApis(
  'real API servers, real releases, the rights that the charts render',
  (ground) => {
    changesSuite('changes', ground.startApis, ground.fluxDistribution);
    foreignSuite('a foreign Flux', ground.startApis, ground.fluxDistribution);
    protectionSuite('protection', ground.startApis, ground.fluxDistribution);
    rightsSuffice(ground);
  },
  () => startRealApis(chartRights),
);
