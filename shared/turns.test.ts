import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;

test('gives a limited number of turns at a time, and again when they end, to the last that has asked', async () => {
  const turns = createTurns(2);
  const order: number[] = [];
  const take = async (caller: number, signal = never) => {
    const end = await turns.take(signal);
    order.push(caller);
    return end;
  };
  const [first] = await Promise.all([take(1), take(2)]);
  const stop = new AbortController();
  const third = take(3);
  const fourth = take(4);
  const fifth = take(5, stop.signal);
  stop.abort('late');
  await expect(fifth).rejects.toBe('late');
  expect(turns.areWanted()).toBe(true);
  first();
  first();
  const end = await fourth;
  expect(order).toEqual([1, 2, 4]);
  end();
  await third;
  expect(turns.areWanted()).toBe(false);
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
  const second = turns.take(never);
  const third = turns.take(stop.signal);
  first();
  stop.abort('late');
  (await third)();
  expect(await second).toBeTypeOf('function');
});
