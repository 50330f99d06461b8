import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { growth, lengthOf } from './growth.ts';

const same = { a: [1, 2], b: 'text' };

it.each<[string, unknown, unknown]>([
  ['a field', { same }, { same, added: 'text' }],
  ['a field less', { same, removed: [1] }, { same }],
  ['a longer text', { same, text: 'a' }, { same, text: 'abc' }],
  ['another type', { same, value: 'a' }, { same, value: { b: [] } }],
  ['an entry', [same, 'a'], ['b', same, 'a']],
  ['an entry twice', [same], [same, same]],
  ['an entry less', [same, 'a', 'a'], [same, 'a']],
  ['a changed entry', [same, { a: 'b' }], [same, { a: 'b', c: 'd' }]],
  ['fields of fields', { a: { same, b: { c: 1 } } }, { a: { same, b: { c: 1, d: 2 } } }],
])('counts %s', (_what, before, after) => {
  // Every object, list and field has a comma.
  expect(Math.abs(growth(before, after) - (lengthOf(after) - lengthOf(before)))).toBeLessThanOrEqual(1);
});

test('any change counts as the difference of the lengths, up to a comma for each object and list', () => {
  const key = fc.stringMatching(/^[a-z]{1,3}$/);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.stringMatching(/^[a-z]{0,20}$/), fc.nat(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    ),
  }));
  const property = fc.property(value, value, (before, after) => {
    const commas = [before, after].reduce<number>(
      (sum, one) => sum + (JSON.stringify(one).match(/[[{]/g)?.length ?? 0),
      0,
    );
    expect(Math.abs(growth(before, after) - (lengthOf(after) - lengthOf(before)))).toBeLessThanOrEqual(commas);
  });
  fc.assert(property, { seed: 20_261_123, numRuns: 500 });
});

it('reads nothing of what both share', () => {
  const shared = {
    get read(): never {
      throw new Error('was read');
    },
  };
  expect(growth({ shared, list: [shared, 1] }, { shared, list: [2, shared] })).toBe(0);
});
