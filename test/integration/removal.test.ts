import { removalSuite } from '../scenarios/removal.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

removalSuite('removal on embedded API servers', startEmbeddedApis, ownDistribution);
