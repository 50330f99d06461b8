import { removedComponentsSuite } from '../scenarios/removed-components.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

removedComponentsSuite('removed components on embedded API servers', startEmbeddedApis, ownDistribution);
