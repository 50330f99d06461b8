import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { addCause, type Causes, coalesced } from './coalesce.ts';

const object = fc.record({
  type: fc.constant('object' as const),
  cluster: fc.constant('seed'),
  kind: fc.constantFrom('Extension', 'ManagedResource'),
  namespace: fc.constant('a'),
  name: fc.constantFrom('x', 'y', 'z'),
  uid: fc.constantFrom('1', '2'),
  resourceVersion: fc.constantFrom('1', '2'),
});

function together(causes: Cause[]): Causes {
  const map: Causes = new Map();
  for (const cause of causes) addCause(map, cause);
  return map;
}

const text = (causes: Causes) => JSON.stringify([...causes.values()].map((cause) => JSON.stringify(cause)).sort());

test('merges a set of causes into the same cause in any order, and different sets into different causes', () => {
  fc.assert(
    fc.property(fc.array(object, { minLength: 1 }), fc.array(object, { minLength: 1 }), (one, other) => {
      const [a, b] = [together(one), together(other)];
      const same = JSON.stringify(coalesced(a)) === JSON.stringify(coalesced(b));
      expect(same).toBe(text(a) === text(b));
    }),
  );
});

test('sends a single cause unchanged', () => {
  fc.assert(
    fc.property(object, (cause) => {
      expect(coalesced(together([cause]))).toEqual(cause);
    }),
  );
});

test('is awaited if one of the merged causes is, and listed only if all are', () => {
  const flags = fc.record({ awaited: fc.boolean(), listed: fc.boolean() });
  const flagged = fc.tuple(object, flags).map(([cause, { awaited, listed }]) => ({
    ...cause,
    ...(awaited && { awaited }),
    ...(listed && { listed }),
  }));
  fc.assert(
    fc.property(fc.array(flagged, { minLength: 1 }), (causes) => {
      const merged = coalesced(together(causes)) as Cause & { type: 'object' };
      expect(merged.awaited === true).toBe(causes.some(({ awaited }) => awaited === true));
      expect(merged.listed === true).toBe(causes.every(({ listed }) => listed === true));
    }),
  );
});
