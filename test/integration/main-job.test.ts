import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { mainJobSuite } from '../scenarios/main-job.ts';
import { startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

mainJobSuite('the main job on embedded API servers', () => startApisWithShippedRights(), standInDistribution.folder);
