import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanItems } from './list-items.ts';

/** Scans a text whose bytes are split at these places. */
function scan(text: string, cuts: number[], most = 200_000) {
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  const scanner = scanItems(
    (json) => items.push(JSON.parse(json)),
    most,
    () => new Error('too many bytes'),
  );
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  places.forEach((from, index) => {
    scanner.write(bytes.subarray(from, places[index + 1] ?? from));
  });
  return { items, list: JSON.parse(scanner.end()) as unknown };
}

test('yields items one by one, whatever they contain and wherever the bytes are split', () => {
  const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }));
  const lists = fc.record({ before: fc.jsonValue(), items: fc.array(object), after: fc.jsonValue() });
  fc.assert(
    fc.property(lists, fc.array(fc.nat(), { maxLength: 8 }), fc.constantFrom(0, 2), (list, cuts, indent) => {
      const { items, list: rest } = scan(JSON.stringify(list, null, indent), cuts);
      expect(items).toEqual(JSON.parse(JSON.stringify(list.items)));
      expect(rest).toEqual(JSON.parse(JSON.stringify({ ...list, items: [] })));
    }),
  );
});

test('yields only the items of the list itself', () => {
  const list = { kind: 'items', metadata: { items: [{ no: 1 }] }, items: [{ items: [{ no: 2 }], text: '"items":[{' }] };
  expect(scan(JSON.stringify(list), []).items).toEqual(list.items);
});

test('yields nothing for a list without items, or with null', () => {
  expect(scan('{"kind":"List","metadata":{"continue":"x"}}', []).list).toMatchObject({ metadata: { continue: 'x' } });
  expect(scan('{"items":null,"metadata":{}}', [])).toEqual({ items: [], list: { items: null, metadata: {} } });
});

test.each([
  `{"items":[{"a":"${'x'.repeat(100)}"}]}`,
  `{"items":[{"a":1}],"more":"${'x'.repeat(100)}"}`,
  `{"${'x'.repeat(100)}`,
])('stops at too many bytes: %s', (text) => {
  for (const cuts of [[], [20], [10, 40]]) expect(() => scan(text, cuts, 60)).toThrow('too many bytes');
});

test('reads as many bytes as the limit allows, in each item', () => {
  const text = '{"items":[{"a":[1,2]},{"a":[3,4]},{"a":[5,6]}]}';
  expect(scan(text, [25], 25).items).toHaveLength(3);
});
