import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOversized } from '../oversized.ts';
import { countParts } from './json-parts.ts';
import { createObjectCutter } from './object-cutter.ts';

const MOST = 150;

/** Reads a text whose bytes are split at these places. */
function cutText(text: string, cuts: number[] = [], above = 0): string | undefined {
  const bytes = Buffer.from(text);
  const cutter = createObjectCutter(MOST, above);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  places.forEach((from, index) => {
    cutter.write(bytes.subarray(from, places[index + 1] ?? from));
  });
  return cutter.end();
}

const cut = (object: unknown, cuts?: number[], above?: number) =>
  JSON.parse(cutText(JSON.stringify(object), cuts, above) ?? 'null');

const many = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, index]));
const metadata = { name: 'shoot-flux', namespace: 'a', annotations: { 'gardener.cloud/operation': 'reconcile' } };
const mark = expect.stringMatching(/^\0oversized [0-9a-f]{16}$/);

test('cuts the providerConfig of an Extension, and keeps everything else', () => {
  const status = { state: { applied: { fluxVersion: 'v2.9.4' } } };
  const object = { metadata, spec: { type: 'shoot-flux', providerConfig: many(100), class: 'shoot' }, status };
  expect(cut(object)).toEqual({ ...object, spec: { ...object.spec, providerConfig: mark } });
});

test('empties managedFields first', () => {
  const object = { metadata: { ...metadata, managedFields: [many(70)] }, spec: { providerConfig: many(20) } };
  expect(cut(object)).toEqual({ ...object, metadata: { ...metadata, managedFields: [] } });
});

test('cuts one entry in a Cluster, and keeps those beside it', () => {
  const entry = { type: 'shoot-flux', providerConfig: many(100) };
  const other = { type: 'other', providerConfig: { a: [1, { b: 2 }] } };
  const cluster = (first: unknown) => ({
    metadata,
    spec: { shoot: { metadata, spec: { extensions: [first, other] } } },
  });
  expect(cut(cluster(entry))).toEqual(cluster({ ...entry, providerConfig: mark }));
});

test('cuts an object in an event of a watch like the object alone', () => {
  const object = { metadata, spec: { shoot: { spec: { extensions: [{ type: 'a', providerConfig: many(100) }] } } } };
  expect(cut({ type: 'MODIFIED', object }, [], 1)).toEqual({ type: 'MODIFIED', object: cut(object) });
});

test('labels with too many entries stay a map of texts', () => {
  const labels = Object.fromEntries(Object.keys(many(100)).map((key) => [key, 'x']));
  const seen = cut({ metadata: { ...metadata, labels }, data: { a: 'b' } });
  expect(seen).toEqual({
    metadata: { ...metadata, labels: { [Object.keys(seen.metadata.labels)[0] ?? '']: '' } },
    data: { a: 'b' },
  });
  expect(Object.keys(seen.metadata.labels).every(isOversized)).toBe(true);
});

test('a mark changes with what it replaces', () => {
  const config = (last: number) =>
    cut({ metadata, spec: { providerConfig: { ...many(100), last } } }).spec.providerConfig;
  expect(config(1)).toBe(config(1));
  expect(config(1)).not.toBe(config(2));
});

test.each([
  ['a status', { metadata, status: { state: many(100) } }],
  ['finalizers', { metadata: { ...metadata, finalizers: Object.keys(many(200)) } }],
])('never cuts %s, but gives up', (_, object) => {
  expect(cut(object)).toBeNull();
});

test('returns valid JSON within the limit, or nothing, wherever the bytes of whatever object are split', () => {
  const value = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 9 });
  const object = fc.dictionary(fc.oneof(fc.constantFrom('metadata', 'spec', 'status', 'data'), fc.string()), value, {
    maxKeys: 40,
  });
  fc.assert(
    fc.property(object, fc.array(fc.nat(), { maxLength: 8 }), fc.constantFrom(0, 2), (whole, cuts, indent) => {
      const text = JSON.stringify(whole, null, indent);
      const seen = cutText(text, cuts);
      expect(seen).toBe(cutText(text));
      if (seen === undefined) return;
      expect(countParts(Buffer.from(seen), MOST)).toBeLessThanOrEqual(MOST);
      const parsed = JSON.parse(seen);
      expect(Object.keys(parsed)).toEqual(Object.keys(JSON.parse(text)));
      if (!seen.includes('\\u0000oversized ')) expect(parsed).toEqual(JSON.parse(text));
    }),
    { seed: 9, numRuns: 300 },
  );
});
