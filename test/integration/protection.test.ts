import { protectionSuite } from '../scenarios/protection.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

protectionSuite('protection on embedded API servers', startEmbeddedApis, ownDistribution);
