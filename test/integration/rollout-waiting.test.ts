import { waitingSuite } from '../scenarios/rollout/suite.ts';
import { ownDistribution, startApisWithShippedRights } from './embedded-apis.ts';

waitingSuite('a Shoot that waits for its turn', () => startApisWithShippedRights(), ownDistribution);
