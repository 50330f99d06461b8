import { landscapeSuite } from '../scenarios/landscape.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

landscapeSuite('defaults and policy on embedded API servers', startEmbeddedApis, ownDistribution);
