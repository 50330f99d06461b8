import { killedAfterEveryWrite, killedAnywhere } from '../scenarios/killed.ts';
import { lives } from '../scenarios/world/lives.ts';

killedAnywhere('lives', lives, ['process', 'outage', 'function']);
killedAfterEveryWrite('lives', lives, ['process', 'outage', 'function']);
