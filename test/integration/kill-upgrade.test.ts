import { describeKilled } from '../scenarios/killed.ts';
import { twoReleases } from '../scenarios/world/two-releases.ts';
import { upgrades } from '../scenarios/world/upgrades.ts';

const distribution = await twoReleases();

describeKilled('upgrades', upgrades, ['process', 'outage'], { distribution, afterEveryWrite: true });
describeKilled('upgrades on Lambda', upgrades, ['function'], { distribution, afterEveryWrite: true, queue: 'sqs' });
