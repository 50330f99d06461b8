import { describe, expect, it } from 'vitest';
import { killEverywhere } from './world/kill-everywhere.ts';
import { allKillsOf, killsOf } from './world/kills.ts';
import type { Life } from './world/lives.ts';
import type { Kill, WorldOptions } from './world/world.ts';

/**
 * `SHOOT_FLUX_KILLS=all`: at every request, before it is carried out and after it, when the answer is lost, in every way
 * of dying. Else once for each moment at which the death of the process can make a difference.
 */
const all = process.env.SHOOT_FLUX_KILLS === 'all';
const momentsOf = all ? allKillsOf : killsOf;

/**
 * Every life is led once undisturbed, and then once for each kill: the product dies with all that it remembers, begins
 * anew, and the garden, the seed and the shoot have to end up the same.
 * @param ways in which it dies, the first one always
 */
export function killedAnywhere(
  name: string,
  lives: Life[],
  ways: [Kill['what'], ...Kill['what'][]],
  options: WorldOptions = {},
): void {
  const timeout = all ? 1_800_000 : 300_000;
  describe.each(all ? ways : ways.slice(0, 1))(`${name}, killed anywhere (%s)`, { timeout }, (what) => {
    it.for(named(lives))('%s', async ([, life]) => {
      const { deviations, cases } = await killEverywhere(life, what, (requests) => momentsOf(requests, what), options);
      expect(deviations).toEqual([]);
      expect(cases).toBeGreaterThan(0);
    });
  });
}

/** Every life once, killed again and again: no run writes twice. */
export function killedAfterEveryWrite(
  name: string,
  lives: Life[],
  ways: Kill['what'][],
  options: WorldOptions = {},
): void {
  describe.each(ways)(`${name}, killed after every write (%s)`, { timeout: 60_000 }, (what) => {
    // A lost run hides its message for a minute, and after two of them a removal gives up.
    const inTime = lives.filter(({ removes }) => what !== 'function' || removes !== true);
    it.for(named(inTime))('%s', async ([, life]) => {
      const everyWrite: Kill = { at: 'every write', when: 'after', what };
      expect((await killEverywhere(life, what, () => [everyWrite], options)).deviations).toEqual([]);
    });
  });
}

function named(lives: Life[]): [string, Life][] {
  return lives.map((life) => [life.name, life]);
}
