import { foreignSuite } from '../scenarios/foreign.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

foreignSuite('a foreign Flux on embedded API servers', startEmbeddedApis, ownDistribution);
