import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definition as delay } from '../../functions/delay/function.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { definitionOf } from '../testing.ts';
import { openSqsBridge } from './bridge.ts';
import { seedsIn, seedsProblem, tagsOf } from './served-seeds.ts';
import { type Emulator, startEmulator } from './testing.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.stop());

/** Opens the queues as a process that serves the seeds, and closes them. */
async function start(prefix: string, seeds: string[], replaceSeeds = false): Promise<void> {
  const definitions = [definitionOf('keys'), delay];
  const { endpoint } = emulator;
  const options = { definitions, log: createLog('error', () => {}), endpoint, prefix, seeds, replaceSeeds };
  await (await openSqsBridge(options)).stop();
}

describe('two deployments on one SQS', () => {
  it('are refused with both sets of seeds when they serve different seeds with the same prefix', async () => {
    await start('one-', ['a', 'b']);
    await expect(start('one-', ['c'])).rejects.toThrow(
      'The queues one-* belong to a deployment that serves a, b, and this process serves c; choose another ' +
        '--queue-prefix, serve the same seeds and more, or pass --replace-seeds if these replace those.',
    );
    await start('one-', ['b', 'a']);
  });

  it('do not meet when their prefixes differ', async () => {
    await start('staging-', ['a']);
    await start('production-', ['b']);
    await start('staging-', ['a']);
  });

  it('are one deployment when the second serves more: it gets a seed, and never loses one unnoticed', async () => {
    await start('more-', ['a']);
    await start('more-', ['a', 'b']);
    await expect(start('more-', ['a'])).rejects.toThrow('serves a, b, and this process serves a;');
    await start('more-', ['a'], true);
    await start('more-', ['a']);
  });
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

  it('is no problem when there is none', () => {
    expect(seedsProblem([], { prefix: 'p-', served: ['a'], replace: false })).toBeUndefined();
  });
});
