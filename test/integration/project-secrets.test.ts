import { projectSecretsSuite } from '../scenarios/project-secrets.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

projectSecretsSuite('Secrets of a project on embedded API servers', startEmbeddedApis, ownDistribution);
