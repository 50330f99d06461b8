import { describeKilled } from '../scenarios/killed.ts';
import { lifecycles, lifecyclesAtOnce } from '../scenarios/world/lifecycles.ts';

describeKilled('delivery ManagedResource', lifecycles, ['process', 'outage', 'function'], { afterEveryWrite: true });
describeKilled('delivery ManagedResource, all steps at once', lifecyclesAtOnce, ['missed']);
