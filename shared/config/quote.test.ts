import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { quote, withoutCredentials } from './quote.ts';

it.each([
  ['https://user:pass@git.example/x', 'https://...@git.example/x'],
  ['git@git.example:x', 'git@git.example:x'],
  ['ssh://git@git.example/x', 'ssh://git@git.example/x'],
  ['//token@git.example', '//...@git.example'],
  ['p@ss@git.example and a@b', '...@git.example and ...@b'],
  ['(https://user:pass@git.example)', '...@git.example)'],
  ['@', '...@'],
  ['nothing', 'nothing'],
])('%s is shown as %s', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});

test('nothing before an @ is shown, whatever the text', () => {
  const word = fc.stringMatching(/^[\w:/@. +-]{0,20}$/);
  fc.assert(
    fc.property(word, (text) => {
      for (const shown of withoutCredentials(text).split(/\s/)) {
        expect(shown).toMatch(/^([^@]|((?:[\w+.-]+:)?\/\/)?(\.\.\.|git)@[^@]*)*$/);
      }
    }),
  );
});

it.each(['x', '1.', '@', 'https://', ' @'])(
  'a long text of %j is cut: what grows with the square of its length does not end in time',
  (part) => {
    expect(quote(part.repeat(400_000)).length).toBeLessThan(100);
  },
);
