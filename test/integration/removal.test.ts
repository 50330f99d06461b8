import { removalSuite } from '../scenarios/removal.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

removalSuite('removal on embedded API servers', startEmbeddedApis, ownDistribution);
