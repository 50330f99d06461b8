import { expect, test } from 'vitest';
import { createRecentlyUsed } from './recently-used.ts';

test('keeps values up to the total weight, and forgets the one that was used longest ago', () => {
  const cache = createRecentlyUsed<string>(10);
  cache.set('a', 'A', 4);
  cache.set('b', 'B', 4);
  expect(cache.get('a')).toBe('A');
  cache.set('c', 'C', 4);
  expect(['a', 'b', 'c'].map(cache.get)).toEqual(['A', undefined, 'C']);
});

test('a value that is set again counts once', () => {
  const cache = createRecentlyUsed<string>(10);
  cache.set('a', 'A', 6);
  cache.set('b', 'B', 3);
  cache.set('a', 'AA', 7);
  expect(['a', 'b'].map(cache.get)).toEqual(['AA', 'B']);
});

test('a value that is heavier than everything may be is not kept, and displaces none', () => {
  const cache = createRecentlyUsed<string>(10);
  cache.set('a', 'A', 5);
  cache.set('b', 'B', 11);
  expect(['a', 'b'].map(cache.get)).toEqual(['A', undefined]);
  cache.set('a', 'AA', 11);
  expect(cache.get('a')).toBeUndefined();
});
