import { describeKilled } from '../scenarios/killed.ts';
import { lifecycles, lifecyclesAtOnce } from '../scenarios/world/lifecycles.ts';

const delivery = 'Direct';

const afterEveryWrite = true;

describeKilled('delivery Direct', lifecycles, ['process'], { delivery, afterEveryWrite });
describeKilled('delivery Direct on Lambda', lifecycles, ['function'], { delivery, afterEveryWrite, queue: 'sqs' });
describeKilled('delivery Direct, all steps at once', lifecyclesAtOnce, ['missed'], { delivery });
