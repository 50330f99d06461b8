import { describe, expect, it } from 'vitest';
import { killEverywhere } from '../scenarios/world/kill-everywhere.ts';
import { killsOf } from '../scenarios/world/kills.ts';
import { matrix } from '../scenarios/world/matrix.ts';

/**
 * Every event of a Shoot's life in every mode and delivery: led undisturbed, and then once for each moment at which a
 * kill of the process can make a difference. It ends the same each time.
 */
describe.each(['ManagedResource', 'Direct'] as const)('a life of a Shoot, delivery %s', (delivery) => {
  it.for(matrix.map((life) => [life.name, life] as const))('%s', { timeout: 60_000 }, async ([, life]) => {
    const kills = (requests: Parameters<typeof killsOf>[0]) => killsOf(requests, 'process');
    const { deviations, cases } = await killEverywhere(life, 'process', kills, { delivery });
    expect(deviations).toEqual([]);
    expect(cases).toBeGreaterThan(0);
  });
});
