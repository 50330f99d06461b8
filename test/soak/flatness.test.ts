import { expect, test } from 'vitest';
import { growth, type Sample } from './flatness.ts';
import { createRandom } from './random.ts';

const allowed = { heapMb: 10, residentMb: 30, handles: 5 };
const samples = (heap: (index: number) => number): Sample[] =>
  Array.from({ length: 40 }, (_, at) => ({ at, residentMb: 100, heapMb: heap(at), handles: 20, waiting: 0 }));

test('finds memory that keeps growing', () => {
  expect(
    growth(
      samples((at) => 50 + at),
      allowed,
    ),
  ).toEqual(['heapMb grew from 60 to 80; 10 more are allowed.']);
});

test('finds handles that are not closed', () => {
  const leaking = samples(() => 50).map((sample) => ({ ...sample, handles: sample.at }));
  expect(growth(leaking, allowed)).toEqual(['handles grew from 10 to 30; 5 more are allowed.']);
});

test('accepts a start that takes memory, and garbage between collections', () => {
  expect(
    growth(
      samples((at) => Math.min(60, 20 + at * 4) + (at % 3) * 30),
      allowed,
    ),
  ).toEqual([]);
});

test('needs enough samples', () => {
  expect(growth(samples(() => 1).slice(0, 7), allowed)).toEqual(['There are only 7 samples; at least 8 are needed.']);
});

test('the same seed gives the same life', () => {
  const numbers = (seed: number) => Array.from({ length: 5 }, createRandom(seed).next);
  expect(numbers(7)).toEqual(numbers(7));
  expect(numbers(7)).not.toEqual(numbers(8));
  expect(numbers(7).every((number) => number >= 0 && number < 1)).toBe(true);
});
