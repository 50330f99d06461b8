import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;

test('gives a limited number of turns at a time, in order, and again when they end', async () => {
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

test('never gives more turns than there are, also to a caller that asks while another one is woken', async () => {
  const turns = createTurns(1);
  const first = await turns.take(never);
  let inside = 0;
  let most = 0;
  const enter = async () => {
    const end = await turns.take(never);
    most = Math.max(most, ++inside);
    await Promise.resolve();
    inside--;
    end();
  };
  const second = enter();
  first();
  await Promise.all([second, enter()]);
  expect(most).toBe(1);
});

test('a caller that stops as its turn begins takes nothing from the others', async () => {
  const turns = createTurns(1);
  const first = await turns.take(never);
  const stop = new AbortController();
  const second = turns.take(stop.signal);
  const third = turns.take(never);
  first();
  stop.abort('late');
  (await second)();
  expect(await third).toBeTypeOf('function');
});
