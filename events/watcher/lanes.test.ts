import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { createLanes, type Waiting } from './lanes.ts';

const text = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', '3', '4'));
const cause = fc.record({ awaited: fc.boolean(), listed: fc.boolean() }).map(
  (flags): Cause => ({
    ...{ type: 'object', cluster: 's', kind: 'K', name: 'n', uid: 'u', resourceVersion: '1' },
    ...flags,
  }),
);
const step = fc.oneof(
  fc.record({ type: fc.constant('add' as const), text, cause, due: fc.nat(100) }),
  fc.record({ type: fc.constant('take' as const), now: fc.nat(100), most: fc.nat(5), mostBackground: fc.nat(5) }),
  fc.record({ type: fc.constant('putBack' as const), where: fc.constantFrom('first' as const, 'last' as const) }),
);
const isHeld = (cluster: string) => cluster === 'c';

test('loses no key, takes only due and allowed ones, and always knows when the next one is due', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lanes = createLanes();
      const waiting = new Set<string>();
      let taken: [string, Waiting][] = [];
      for (const one of steps) {
        if (one.type === 'add') {
          const [cluster, name] = one.text;
          waiting.add(one.text.join('/'));
          lanes.add(one.text.join('/'), { cluster, namespace: 'n', name }, one.cause, 0, one.due);
        } else if (one.type === 'putBack') {
          lanes.putBack(taken, one.where);
          for (const [key] of taken) waiting.add(key);
          taken = [];
        } else {
          const batch = lanes.take(one.now, { most: one.most, mostBackground: one.mostBackground, isHeld });
          const background = batch.filter(([, { priority }]) => priority === 'background');
          expect(batch.length).toBeLessThanOrEqual(one.most);
          expect(background.length).toBeLessThanOrEqual(one.mostBackground);
          expect(background.filter(([, { key }]) => isHeld(key.cluster))).toEqual([]);
          for (const [key, { due }] of batch) {
            expect(due).toBeLessThanOrEqual(one.now);
            expect(waiting.delete(key)).toBe(true);
          }
          taken.push(...batch.filter(([key]) => !taken.some(([other]) => other === key)));
        }
        expect(lanes.size()).toBe(waiting.size);
        expect([...lanes.values()]).toHaveLength(waiting.size);
        const open = [...lanes.values()].filter(
          ({ priority, key }) => priority !== 'background' || !isHeld(key.cluster),
        );
        const first = Math.min(Number.POSITIVE_INFINITY, ...open.map(({ due }) => due));
        // It may be too early, never too late.
        expect(lanes.nextDue(isHeld)).toBeLessThanOrEqual(first);
        if (open.length === 0) expect(lanes.nextDue(isHeld)).toBe(Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test('knows when the next key is due although one was put back before it that is due later', () => {
  const lanes = createLanes();
  const add = (name: string, due: number) =>
    lanes.add(name, { cluster: 'a', namespace: 'n', name }, { type: 'resync', epoch: 1 }, 0, due);
  add('later', 50);
  const taken = lanes.take(60, { most: 1, mostBackground: 1, isHeld: () => false });
  expect(taken).toHaveLength(1);
  add('sooner', 40);
  lanes.putBack(taken, 'first');
  expect(lanes.nextDue(() => false)).toBe(40);
});

test('takes awaited keys first, and of equally urgent ones each cluster in turn', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, cause), { minLength: 1 }), (added) => {
      const lanes = createLanes();
      for (const [[cluster, name], one] of added) {
        lanes.add(`${cluster}/${name}`, { cluster, namespace: 'n', name }, one, 0, 0);
      }
      const limits = { most: 1, mostBackground: 1, isHeld: () => false };
      const order: Waiting[] = [];
      for (let [first] = lanes.take(1, limits); first !== undefined; [first] = lanes.take(1, limits))
        order.push(first[1]);
      const ranks = order.map(({ priority }) => ['awaited', 'live', 'background'].indexOf(priority));
      expect(ranks).toEqual([...ranks].sort());
      for (const priority of ['awaited', 'live', 'background']) {
        const clusters = order.filter((one) => one.priority === priority).map(({ key }) => key.cluster);
        const different = new Set(clusters).size;
        expect(new Set(clusters.slice(0, different)).size).toBe(different);
      }
    }),
  );
});
