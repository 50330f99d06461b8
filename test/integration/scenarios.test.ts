import { landscapeSuite } from '../scenarios/landscape.ts';
import { overridesSuite } from '../scenarios/overrides.ts';
import { projectSecretsSuite } from '../scenarios/project-secrets.ts';
import { referencesSuite } from '../scenarios/references.ts';
import { waitingSuite } from '../scenarios/rollout/suite.ts';
import { ownDistribution, startApisWithShippedRights, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

landscapeSuite('defaults and policy on embedded API servers', startEmbeddedApis, ownDistribution);
overridesSuite('overrides on embedded API servers', startEmbeddedApis, ownDistribution);
projectSecretsSuite('Secrets of a project on embedded API servers', startEmbeddedApis, ownDistribution);
referencesSuite('references on embedded API servers', startEmbeddedApis, ownDistribution);
waitingSuite('a Shoot that waits for its turn', () => startApisWithShippedRights(), ownDistribution);
