import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { mainJobSuite } from '../scenarios/main-job.ts';
import { rolloutSuite } from '../scenarios/rollout/suite.ts';
import { startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

mainJobSuite('the main job on embedded API servers', () => startApisWithShippedRights(), standInDistribution.folder);
rolloutSuite('a rollout on embedded API servers', () => startApisWithShippedRights(), standInDistribution.folder);
