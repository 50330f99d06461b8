import { afterAll } from 'vitest';
import { startFastClock } from '../fast-clock.ts';

/**
 * Lets time pass faster in this file while the process is idle: for suites that wait for the product's own delays, such
 * as 15 s until a retry. Only time limits of tests are in real time.
 */
export function speedUpTime(factor = 5): void {
  afterAll(startFastClock(factor).restore);
}
