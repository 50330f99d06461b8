import { describeKilled } from '../scenarios/killed.ts';
import { adoptions } from '../scenarios/world/adoptions.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';

const distribution = await twoReleases();
const lifecycles = await adoptions(distribution, FORMER_RELEASE);
const afterEveryWrite = true;

describeKilled('adoption', lifecycles, ['process'], { distribution, afterEveryWrite });
describeKilled('adoption, others work meanwhile', lifecycles.slice(0, 1), ['outage'], { distribution });
describeKilled('adoption, delivery Direct', lifecycles.slice(0, 1), ['process'], { distribution, delivery: 'Direct' });
