import { expect, it } from 'vitest';
import { inParallel } from './in-parallel.ts';

const twenty = Array.from({ length: 20 }, (_, index) => index);

it('returns the results in the order of the items, and calls for a few at a time', async () => {
  let underWay = 0;
  let most = 0;
  const results = await inParallel(twenty, async (item) => {
    most = Math.max(most, ++underWay);
    await Promise.resolve();
    underWay--;
    return item;
  });
  expect([results, most]).toEqual([twenty, 8]);
});

it('begins no further call once the time is up, and returns the results of the first items', async () => {
  let done = 0;
  const results = await inParallel(
    twenty,
    async (item) => {
      done++;
      return item;
    },
    () => done >= 10,
  );
  expect(results).toEqual(twenty.slice(0, results.length));
  expect(results.length).toBeLessThan(20);
});

it('starts the first batch even after the time limit, so that runs that always start late make progress', async () => {
  expect(
    await inParallel(
      twenty,
      async (item) => item,
      () => true,
    ),
  ).toEqual(twenty.slice(0, 8));
});

it('throws the failure of the first item in their order, also where a later one fails sooner', async () => {
  let begun = 0;
  const failing = inParallel(twenty, async (item) => {
    begun++;
    await new Promise((resolve) => setTimeout(resolve, item === 3 ? 20 : 1));
    if (item === 3 || item === 5) throw new Error(`item ${item}`);
  });
  await expect(failing).rejects.toThrow('item 3');
  expect(begun).toBeLessThan(20);
});
