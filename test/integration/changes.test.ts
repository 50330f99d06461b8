import { changesSuite } from '../scenarios/changes.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

changesSuite('changes on embedded API servers', startEmbeddedApis, ownDistribution);
