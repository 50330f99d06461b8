import { overridesSuite } from '../scenarios/overrides.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

overridesSuite('overrides on embedded API servers', startEmbeddedApis, ownDistribution);
