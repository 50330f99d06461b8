import { changesSuite } from '../scenarios/changes.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

changesSuite('changes on embedded API servers', startEmbeddedApis, ownDistribution);
