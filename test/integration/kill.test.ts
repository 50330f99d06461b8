import { killedAfterEveryWrite, killedAnywhere } from '../scenarios/killed.ts';
import { hurried, lives } from '../scenarios/world/lives.ts';

killedAnywhere('lives', lives, ['process', 'outage', 'function']);
killedAnywhere('lives in a hurry', hurried, ['missed']);
killedAfterEveryWrite('lives', lives, ['process', 'outage', 'function']);
