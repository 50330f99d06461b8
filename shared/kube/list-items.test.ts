import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ScanLimits, scanItems } from './list-items.ts';

const limits: ScanLimits = {
  ...{ bytes: 200_000, parts: 100_000, items: 1000 },
  exceeded: (what) => new Error(`too many ${what}`),
};

/** Scans a text whose bytes are split at these places. */
function scan(text: string, cuts: number[], fewer: Partial<ScanLimits> = {}, onUnreadable?: (error: Error) => void) {
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  const scanner = scanItems((json) => items.push(JSON.parse(json)), { ...limits, ...fewer }, onUnreadable);
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
  ['bytes', `{"items":[{"a":"${'x'.repeat(100)}"}]}`],
  ['bytes', `{"items":[{"a":1}],"more":"${'x'.repeat(100)}"}`],
  ['bytes', `{"${'x'.repeat(100)}`],
  ['parts', '{"items":[[[[[[[[[[[[[[[['],
  ['parts', '{"items":[{"a":[0,1,2,3,4,5,6,7,8,9]}]}'],
  ['parts', '{"a":[0,1,2,3,4,5,6,7,8,9]}'],
  ['items', '{"items":[{},{},{},{}]}'],
])('stops at too many %s: %s', (what, text) => {
  for (const cuts of [[], [20], [10, 40]]) {
    expect(() => scan(text, cuts, { bytes: 60, parts: 10, items: 3 })).toThrow(`too many ${what}`);
  }
});

test('reads as many bytes, parts and items as the limits allow, in each item', () => {
  const text = '{"items":[{"a":[1,2]},{"a":[3,4]},{"a":[5,6]}]}';
  expect(scan(text, [25], { bytes: 25, parts: 6, items: 3 }).items).toHaveLength(3);
});

test('skips items that are too large, if asked to, and yields all others', () => {
  const large = [
    { text: 'x'.repeat(100) },
    { list: Array.from({ length: 20 }, () => ({})) },
    { deep: [[[[[[[[[[[[]]]]]]]]]]]] },
  ];
  const items = fc.array(fc.oneof(fc.constantFrom(...large), fc.record({ no: fc.nat() })), { maxLength: 10 });
  fc.assert(
    fc.property(items, fc.array(fc.nat(), { maxLength: 8 }), (all, cuts) => {
      const errors: string[] = [];
      const text = JSON.stringify({ items: all, metadata: { continue: 'x' } });
      const seen = scan(text, cuts, { bytes: 60, parts: 10 }, ({ message }) => errors.push(message));
      expect(seen.items).toEqual(all.filter((item) => 'no' in item));
      expect(errors).toHaveLength(all.length - seen.items.length);
      expect(seen.list).toEqual({ items: [], metadata: { continue: 'x' } });
    }),
  );
});

test('the list itself has limits even when items are skipped', () => {
  const text = JSON.stringify({ more: 'x'.repeat(100), items: [] });
  expect(() => scan(text, [], { bytes: 60 }, () => {})).toThrow('too many bytes');
});
