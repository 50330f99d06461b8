import { describeKilled } from '../scenarios/killed.ts';
import { lifecycles, lifecyclesAtOnce } from '../scenarios/world/lifecycles.ts';

const delivery = 'Direct';

describeKilled('delivery Direct', lifecycles, ['process', 'function'], { delivery, afterEveryWrite: true });
describeKilled('delivery Direct, all steps at once', lifecyclesAtOnce, ['missed'], { delivery });
