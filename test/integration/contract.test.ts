import { contractSuite } from '../scenarios/contract.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

contractSuite("Gardener's contract on embedded API servers", startEmbeddedApis, ownDistribution);
