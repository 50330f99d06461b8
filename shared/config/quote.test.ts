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
  ['https://user:pass word@git.example/x', 'https://... ...@git.example/x'],
  ['https://user:two more words@git.example', 'https://... ... ...@git.example'],
  ['https://git.example:8443/x of a@b', 'https://git.example:8443/x of ...@b'],
  ['https://user:pass word', 'https://user:pass word'],
  ['@', '...@'],
  ['nothing', 'nothing'],
])('shows %s as %s', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});

test('shows nothing before an @', () => {
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
  'truncates a long string of %j in linear time (quadratic time would exceed the timeout)',
  (part) => {
    expect(quote(part.repeat(400_000)).length).toBeLessThan(100);
  },
);

it.each([
  ['p'.repeat(4000), 'https://...@'],
  [`p ${'p '.repeat(1000)}`, 'https://... ... ...'],
  [`${'p'.repeat(60)} ${'p'.repeat(7000)}`, 'https://... ...@'],
])('shows nothing of a long password', (password, shown) => {
  expect(quote(`https://user:${password}@git.example/x`)).toContain(shown);
  expect(quote(`https://user:${password}@git.example/x`)).not.toContain('p.');
  expect(quote(`https://user:${password}@git.example/x`)).not.toContain('pp');
});

it('recognizes a private key that ends beyond what is shown', () => {
  expect(quote(`${'A'.repeat(3000)}\n-----END OPENSSH PRIVATE KEY-----`)).toBe('(a private key)');
});

it.each([
  ['2.9.x\u00a0', '"2.9.x\\u00a0"'],
  ['ma\u200bin', '"ma\\u200bin"'],
  ['fl\u202eux', '"fl\\u202eux"'],
  ['\u009b31m', '"\\u009b31m"'],
  ['a\u2028b', '"a\\u2028b"'],
  ['a\u{e0041}', '"a\\udb40\\udc41"'],
  ['\ud800', '"\\ud800"'],
  ['a b\n', '"a b\\n"'],
  ['äΩ語😀', '"äΩ語😀"'],
])('shows what cannot be seen: %j', (text, shown) => {
  expect(quote(text)).toBe(shown);
  expect(JSON.parse(quote(text))).toBe(text);
});
