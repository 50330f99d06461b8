import { directSuite } from '../scenarios/direct.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

directSuite('direct on embedded API servers', startEmbeddedApis, ownDistribution);
