import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanItems } from './list-items.ts';

/** Scans a text whose bytes arrive cut at these places. */
function scan(text: string, cuts: number[]): { items: unknown[]; list: unknown } {
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  const scanner = scanItems((json) => items.push(JSON.parse(json)));
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  places.forEach((from, index) => {
    scanner.write(bytes.subarray(from, places[index + 1] ?? from));
  });
  return { items, list: JSON.parse(scanner.end()) };
}

test('items come one by one, whatever they hold and however the bytes are cut', () => {
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

test('only the items of the list itself count', () => {
  const list = { kind: 'items', metadata: { items: [{ no: 1 }] }, items: [{ items: [{ no: 2 }], text: '"items":[{' }] };
  expect(scan(JSON.stringify(list), []).items).toEqual(list.items);
});

test('a list without items, or with null, is empty', () => {
  expect(scan('{"kind":"List","metadata":{"continue":"x"}}', []).list).toMatchObject({ metadata: { continue: 'x' } });
  expect(scan('{"items":null,"metadata":{}}', [])).toEqual({ items: [], list: { items: null, metadata: {} } });
});
