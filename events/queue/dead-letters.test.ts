import { expect, it } from 'vitest';
import { causeOf, keyOf } from '../testing.ts';
import { createDeadLetters, MOST_DEAD_LETTERS } from './dead-letters.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const letter = (n: number, reason = 'It cannot succeed.') => ({
  ...{ function: 'keys', key: keyOf(n), causes: [causeOf()], reason, attempts: 40 },
});

it('keeps one dead letter for a key, with its first and last time, until the key succeeds', () => {
  const letters = createDeadLetters();
  letters.add(letter(1, 'first'), at(0));
  letters.add(letter(1, 'second'), at(1));
  expect(letters.list()).toEqual({
    deadLetters: [{ ...letter(1, 'second'), since: at(0).toISOString(), last: at(1).toISOString() }],
    dropped: 0,
  });
  letters.remove('keys', keyOf(1));
  expect(letters.list().deadLetters).toEqual([]);
});

it('holds a limited number, however many keys fail, and counts those that it drops', () => {
  const dropped: string[] = [];
  const letters = createDeadLetters((name) => dropped.push(name));
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 5000; n++) letters.add(letter(n, 'x'.repeat(100_000)), at(round));
  }
  const { deadLetters, dropped: count } = letters.list();
  expect(deadLetters).toHaveLength(MOST_DEAD_LETTERS);
  expect(count).toBe(15_000 - MOST_DEAD_LETTERS);
  expect(dropped).toHaveLength(count);
  expect(JSON.stringify(deadLetters).length).toBeLessThan(2000 * MOST_DEAD_LETTERS);
});
