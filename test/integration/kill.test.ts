import { describeKilled } from '../scenarios/killed.ts';
import { lifecycles, lifecyclesAtOnce } from '../scenarios/world/lifecycles.ts';

const afterEveryWrite = true;

describeKilled('lifecycles', lifecycles, ['process', 'outage'], { afterEveryWrite });
describeKilled('lifecycles on Lambda', lifecycles, ['function'], { afterEveryWrite, queue: 'sqs' });
describeKilled('all steps of a lifecycle at once', lifecyclesAtOnce, ['missed']);
