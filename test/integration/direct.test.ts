import { directSuite } from '../scenarios/direct.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';

directSuite('direct on embedded API servers', startEmbeddedApis, ownDistribution);
