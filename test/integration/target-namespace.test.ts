import { targetNamespaceSuite } from '../scenarios/target-namespace.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

targetNamespaceSuite('targetNamespace on embedded API servers', startEmbeddedApis, ownDistribution);
