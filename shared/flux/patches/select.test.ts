import { expect, it, test } from 'vitest';
import { object } from '../testing.ts';
import { labelSelector, selectorOf } from './select.ts';

test('a pattern that repeats four parts is refused, and one with three reads the longest namespace', () => {
  const metadata = { name: 'a', namespace: 'n'.repeat(63) };
  const objects = Array.from({ length: 2000 }, () => object('Deployment', 'a', { metadata }));
  const select = (namespace: string) => () => objects.filter(selectorOf({ namespace }));
  expect(select('.*.*.*.*_')).toThrow('too complex a pattern');
  expect(select('n.*n.*n.*')()).toHaveLength(2000);
  expect(select('.*.*.*_')()).toEqual([]);
});

it.each([
  [{ tier: 'b', app: 'c' }, true],
  [{ tier: 'b', app: 'c', d: '' }, false],
  [{ tier: 'x', app: 'c' }, false],
  [{ tier: 'a' }, false],
])('a list of requirements is split outside of parentheses: %j', (labels, expected) => {
  expect(labelSelector('selector', 'tier in (a, b), app=c,!d,other notin (x,y)')(labels)).toBe(expected);
});
