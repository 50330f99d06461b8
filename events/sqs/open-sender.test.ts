import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../testing.ts';
import { openSqsSender, seedsIn, tagsOf } from './open-sender.ts';

it('ends with one sentence when SQS accepts connections and never answers', async () => {
  const silent = createServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const options = { definitions: [definitionOf('keys')], prefix: 'a-', seeds: [], openMs: 300 };
  await expect(openSqsSender({ ...options, endpoint: `http://127.0.0.1:${port}` })).rejects.toThrow(
    `SQS at 127.0.0.1:${port}: the queues a-* cannot be opened (no answer within 0.3 s); check region, credentials and ` +
      'rights.',
  );
  silent.closeAllConnections();
  silent.close();
});

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
