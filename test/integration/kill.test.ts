import { describe, expect, it } from 'vitest';
import { killEverywhere } from '../scenarios/world/kill-everywhere.ts';
import { allKillsOf, killsOf } from '../scenarios/world/kills.ts';
import { lives } from '../scenarios/world/lives.ts';
import type { Kill } from '../scenarios/world/world.ts';

/**
 * Every life is led once undisturbed, and then once for each moment at which a kill can make a difference: the product
 * dies with all that it remembers, begins anew, and the garden, the seed and the shoot have to end up the same.
 *
 * `npm test` kills the whole process at every such moment (some 380). `SHOOT_FLUX_KILLS=all` takes 20 minutes: every
 * request, before it is carried out and after it, when the answer is lost; at once, after an outage, and as a Lambda
 * dies, alone.
 */
const all = process.env.SHOOT_FLUX_KILLS === 'all';
const kinds: Kill['what'][] = all ? ['process', 'outage', 'function'] : ['process'];
const momentsOf = all ? allKillsOf : killsOf;
const timeout = all ? 900_000 : 60_000;

describe.each(kinds)('killed anywhere (%s)', (what) => {
  it.for(lives.map((life) => [life.name, life] as const))('%s', { timeout }, async ([, life]) => {
    const { deviations, cases } = await killEverywhere(life, what, (requests) => momentsOf(requests, what));
    expect(deviations).toEqual([]);
    expect(cases).toBeGreaterThan(0);
  });
});

describe.each(['process', 'outage', 'function'] as const)('killed after every write (%s)', (what) => {
  // A lost run hides its message for a minute, and after two of them a removal gives up.
  const inTime = lives.filter(({ removes }) => what !== 'function' || removes !== true);
  it.for(inTime.map((life) => [life.name, life] as const))('%s', async ([, life]) => {
    const everyWrite: Kill = { at: 'every write', when: 'after', what };
    expect((await killEverywhere(life, what, () => [everyWrite])).deviations).toEqual([]);
  });
});
