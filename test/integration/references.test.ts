import { referencesSuite } from '../scenarios/references.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

referencesSuite('references on embedded API servers', startEmbeddedApis, ownDistribution);
