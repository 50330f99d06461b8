import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from './safe-text.ts';

test('ends between two words, so that no half of a secret remains', () => {
  expect(cutText('see https://user:password@example.com/a now', 24)).toBe('see ');
  expect(cutText('one two', 3)).toBe('one');
});

test('returns a beginning of at most the length, and whole characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (text, longest) => {
      const cut = cutText(text, longest);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(longest);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});
