import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;

test('gives so many turns at a time, in order, and again when they end', async () => {
  const turns = createTurns(2);
  const order: number[] = [];
  const take = async (caller: number, signal = never) => {
    const end = await turns.take(signal);
    order.push(caller);
    return end;
  };
  const [first] = await Promise.all([take(1), take(2)]);
  const stop = new AbortController();
  const third = take(3, stop.signal);
  const fourth = take(4);
  const fifth = take(5);
  stop.abort('late');
  await expect(third).rejects.toBe('late');
  first();
  first();
  const end = await fourth;
  expect(order).toEqual([1, 2, 4]);
  end();
  await fifth;
  await expect(take(6, AbortSignal.abort('over'))).rejects.toBe('over');
});
