import { describeKilled } from '../scenarios/killed.ts';
import { lifecycles, lifecyclesAtOnce } from '../scenarios/world/lifecycles.ts';

const afterEveryWrite = true;

describeKilled('delivery ManagedResource', lifecycles, ['process', 'outage'], { afterEveryWrite });
describeKilled('delivery ManagedResource on Lambda', lifecycles, ['function'], { afterEveryWrite, queue: 'sqs' });
describeKilled('delivery ManagedResource, all steps at once', lifecyclesAtOnce, ['missed']);
