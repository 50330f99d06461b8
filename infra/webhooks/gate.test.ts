import { expect, it } from 'vitest';
import { createGate } from './gate.ts';

const limits = { atOnce: 2, perSecond: 1000, burst: 100, waiting: 3 };

it('lets the next one pass when another has left', async () => {
  const gate = createGate(limits);
  const [first, second] = await Promise.all([gate.enter(1000), gate.enter(1000)]);
  const order: string[] = [];
  const third = gate.enter(1000).then(() => order.push('third'));
  const fourth = gate.enter(1000).then(() => order.push('fourth'));
  await Promise.resolve();
  expect(order).toEqual([]);
  first?.();
  await third;
  expect(order).toEqual(['third']);
  second?.();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
});

it('turns away those that wait too long, and those that find too many waiting', async () => {
  const gate = createGate({ ...limits, atOnce: 0 });
  const waiting = [gate.enter(20), gate.enter(20), gate.enter(20)];
  expect(await gate.enter(1_000_000)).toBeUndefined();
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
});

it('lets only so many pass in a second', async () => {
  const gate = createGate({ atOnce: 100, perSecond: 50, burst: 2, waiting: 100 });
  const begin = performance.now();
  const all = await Promise.all([1, 2, 3, 4, 5, 6].map(() => gate.enter(10_000)));
  expect(all).not.toContain(undefined);
  // Two at once, and the other four at 20 ms each.
  expect(performance.now() - begin).toBeGreaterThan(75);
});
