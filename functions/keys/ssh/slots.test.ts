import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

const never = new AbortController().signal;

test('gives out so many slots, and the next one when one is free', async () => {
  const slots = createSlots(2);
  const first = await slots.take(never);
  const second = await slots.take(never);
  let third: (() => void) | undefined;
  const waiting = slots.take(never).then((free) => {
    third = free;
  });
  await Promise.resolve();
  expect(third).toBeUndefined();
  first?.();
  await waiting;
  expect(third).toBeTypeOf('function');
  third?.();
  second?.();
  expect(await Promise.all([slots.take(never), slots.take(never)])).toHaveLength(2);
});

test('stops waiting with the signal, and loses no slot', async () => {
  const slots = createSlots(1);
  const free = await slots.take(never);
  const impatient = new AbortController();
  const waiting = slots.take(impatient.signal);
  impatient.abort();
  expect(await waiting).toBeUndefined();
  expect(await slots.take(impatient.signal)).toBeUndefined();
  free?.();
  expect(await slots.take(never)).toBeTypeOf('function');
});
