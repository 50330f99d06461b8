import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heap, type Timed } from './heap.ts';

it('has the first due element first, whatever is added and removed', () => {
  const steps = fc.array(fc.record({ at: fc.nat(50), remove: fc.option(fc.nat(20)) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const heap = new Heap<Timed>();
      const kept: Timed[] = [];
      for (const { at, remove } of all) {
        const [gone] = remove === null ? [] : kept.splice(remove, 1);
        if (gone === undefined) {
          const item = { at, index: -1 };
          kept.push(item);
          heap.add(item);
        } else {
          heap.remove(gone);
          expect(gone.index).toBe(-1);
        }
        expect(heap.size).toBe(kept.length);
        expect(heap.first()?.at).toBe(kept.length === 0 ? undefined : Math.min(...kept.map((item) => item.at)));
      }
    }),
    { seed: 9 },
  );
});
