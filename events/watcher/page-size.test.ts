import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPageSize } from './lister.ts';

test('is halved down to one object when pages fail, and recovers by a quarter with each that arrives', () => {
  const size = createPageSize();
  for (const expected of [10, 5, 2, 1, 1]) {
    size.failed();
    expect(size.limit()).toBe(expected);
  }
  const limits = Array.from({ length: 6 }, () => {
    size.arrived(size.limit(), size.limit() * 1000);
    return size.limit();
  });
  expect(limits).toEqual([2, 3, 4, 5, 7, 9]);
});

test('is always between 1 and 500, and never fits more bytes than the target by the last measure', () => {
  const page = fc.record({ items: fc.nat(1000), bytes: fc.nat(100_000_000) });
  fc.assert(
    fc.property(fc.array(fc.option(page)), (pages) => {
      const size = createPageSize();
      for (const one of pages) {
        if (one === null) size.failed();
        else size.arrived(one.items, one.bytes);
        expect(size.limit()).toBeGreaterThanOrEqual(1);
        expect(size.limit()).toBeLessThanOrEqual(500);
        if (one !== null && one.items > 0 && size.limit() > 1) {
          expect((size.limit() * one.bytes) / one.items).toBeLessThanOrEqual(3_000_000);
        }
      }
    }),
  );
});
