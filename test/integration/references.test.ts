import { referencesSuite } from '../scenarios/references.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

referencesSuite('references on embedded API servers', startEmbeddedApis, ownDistribution);
