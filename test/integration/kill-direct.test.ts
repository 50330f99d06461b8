import { killedAfterEveryWrite, killedAnywhere } from '../scenarios/killed.ts';
import { lives } from '../scenarios/world/lives.ts';

/** As kill.test.ts, where the product writes into the shoots itself. */
const direct = { delivery: 'Direct' } as const;

killedAnywhere('delivery Direct', lives, ['process', 'function'], direct);
killedAfterEveryWrite('delivery Direct', lives, ['process', 'function'], direct);
