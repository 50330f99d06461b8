import { describe, expect, it } from 'vitest';
import { seedsIn, tagsOf } from './served-seeds.ts';

describe('the record of seeds', () => {
  it('fits into the tags of a queue', () => {
    const seeds = Array.from({ length: 150 }, (_, n) => `seed-${n}`.padEnd(63, 'x')).sort();
    const tags = tagsOf(seeds);
    expect(Object.keys(tags).length).toBeLessThanOrEqual(40);
    for (const value of Object.values(tags)) expect(value.length).toBeLessThanOrEqual(256);
    expect(seedsIn({ ...tags, owner: 'team' })).toEqual(seeds);
  });

  it('refuses more seeds than it has room for', () => {
    const seeds = Array.from({ length: 200 }, (_, n) => `seed-${n}`.padEnd(63, 'x'));
    expect(() => tagsOf(seeds)).toThrow('200 seeds are too many');
  });
});
