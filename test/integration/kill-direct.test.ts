import { describe, expect, it } from 'vitest';
import { killEverywhere } from '../scenarios/world/kill-everywhere.ts';
import { killsOf } from '../scenarios/world/kills.ts';
import { lives } from '../scenarios/world/lives.ts';
import type { Kill } from '../scenarios/world/world.ts';

/** As kill.test.ts, where the product writes into the shoots itself. */
const direct = { delivery: 'Direct' } as const;
const named = lives.map((life) => [life.name, life] as const);

describe('delivery Direct, killed anywhere (process)', () => {
  it.for(named)('%s', { timeout: 60_000 }, async ([, life]) => {
    const kills = (requests: Parameters<typeof killsOf>[0]) => killsOf(requests, 'process');
    const { deviations, cases } = await killEverywhere(life, 'process', kills, direct);
    expect(deviations).toEqual([]);
    expect(cases).toBeGreaterThan(0);
  });
});

describe.each(['process', 'function'] as const)('delivery Direct, killed after every write (%s)', (what) => {
  // A lost run hides its message for a minute, and after two of them a removal gives up.
  const inTime = named.filter(([, { removes }]) => what !== 'function' || removes !== true);
  it.for(inTime)('%s', { timeout: 60_000 }, async ([, life]) => {
    const everyWrite: Kill = { at: 'every write', when: 'after', what };
    expect((await killEverywhere(life, what, () => [everyWrite], direct)).deviations).toEqual([]);
  });
});
