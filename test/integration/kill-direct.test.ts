import { killedAfterEveryWrite, killedAnywhere } from '../scenarios/killed.ts';
import { hurried, lives } from '../scenarios/world/lives.ts';

/** As kill.test.ts, where the product writes into the shoots itself. */
const direct = { delivery: 'Direct' } as const;

killedAnywhere('delivery Direct', lives, ['process', 'function'], direct);
killedAnywhere('delivery Direct in a hurry', hurried, ['missed'], direct);
killedAfterEveryWrite('delivery Direct', lives, ['process', 'function'], direct);
