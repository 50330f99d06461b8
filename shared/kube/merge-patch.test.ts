import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeDiff } from './merge-patch.ts';

/** RFC 7386, as an API server applies it. */
function applyPatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyPatch(result[key], value);
  }
  return result;
}

const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.oneof({ depthSize: 'small' }, leaf, tie('tree'))),
}));

it('turns any object into any other', () => {
  fc.assert(
    fc.property(tree, tree, (live, wanted) => {
      const patch = mergeDiff(live, wanted);
      expect(patch === undefined ? live : applyPatch(live, patch)).toEqual(wanted);
    }),
  );
});

it('returns undefined for equal objects', () => {
  fc.assert(fc.property(tree, (object) => mergeDiff(object, structuredClone(object)) === undefined));
});

it('contains only the differences', () => {
  expect(mergeDiff({ a: 1, b: { c: 2, d: 3 }, e: [1] }, { a: 1, b: { c: 4 }, e: [1, 2] })).toEqual({
    b: { c: 4, d: null },
    e: [1, 2],
  });
});

it('removes nothing that was read as absent', () => {
  expect(mergeDiff({ a: undefined, b: 1 }, { b: 1 })).toBeUndefined();
});
