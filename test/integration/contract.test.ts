import { contractSuite } from '../scenarios/contract.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

contractSuite("Gardener's contract on embedded API servers", startEmbeddedApis, ownDistribution);
