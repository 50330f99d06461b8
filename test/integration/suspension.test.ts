import { suspensionSuite } from '../scenarios/suspension.ts';
import { ownDistribution, startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

suspensionSuite('a suspended project', () => startApisWithShippedRights(), ownDistribution);
