import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from './kube/resource.ts';
import { entriesAt, fieldsAt, shapedConditions, shapedObject, textAt } from './shapes.ts';

const object = (parts: Record<string, unknown>) =>
  ({ apiVersion: 'v1', kind: 'Any', ...parts, metadata: { name: 'a', ...(parts.metadata as object) } }) as KubeObject;
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Any',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
};

describe('shapedObject', () => {
  it('returns a well-formed object itself', () => {
    const well = object({
      metadata: { labels: { a: 'b' }, finalizers: ['f'], generation: 1, managedFields: [{ manager: 'm' }] },
      spec: { suspend: true },
      status: { conditions: [condition] },
    });
    expect(shapedObject(well)).toBe(well);
  });

  it.each([
    ['conditions that are not a list', { status: { conditions: { Ready: 'True' } } }, { conditions: [] }],
    [
      'conditions that are null or texts',
      { status: { conditions: [null, 'Ready', 7, condition] } },
      { conditions: [condition] },
    ],
    ['a status that is a list', { status: [condition] }, undefined],
    ['a status that is a text', { status: 'Ready' }, undefined],
  ])('reads %s as absent', (_, parts, status) => {
    expect(shapedObject(object(parts)).status).toEqual(status);
  });

  it('completes conditions whose texts are of another type', () => {
    const odd = { ...condition, message: { text: 'x' }, reason: 7, lastTransitionTime: null };
    expect(shapedConditions([odd])).toEqual([
      { ...condition, message: '', reason: '', lastTransitionTime: '', lastUpdateTime: '' },
    ]);
  });

  it('reads metadata of other types as absent, and an odd deletion still as a deletion', () => {
    const odd = {
      labels: ['a'],
      annotations: { a: 1, b: 'c' },
      finalizers: [null, 'f'],
      generation: '1',
      managedFields: [null, { manager: 7 }, { manager: 'm' }],
      deletionTimestamp: 12,
    };
    expect(shapedObject(object({ metadata: odd })).metadata).toEqual({
      name: 'a',
      labels: {},
      annotations: { b: 'c' },
      finalizers: ['f'],
      managedFields: [{ manager: 'm' }],
      deletionTimestamp: '',
    });
  });

  it.each([null, 'text', 7, [], {}, { metadata: null }, { metadata: { name: 7 } }, { metadata: { name: '' } }])(
    'refuses %j, which is not an object',
    (value) => {
      expect(() => shapedObject(value as KubeObject)).toThrow('an answer holds no object');
    },
  );

  it('gives any object with a name a shape that needs no second look', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('labels', 'finalizers', 'managedFields', 'generation'), fc.anything()),
        fc.anything(),
        fc.anything(),
        (metadata, spec, status) => {
          const shaped = shapedObject(object({ metadata, spec, status }));
          expect(shapedObject(shaped)).toEqual(shaped);
          for (const { type, message } of shapedConditions(
            (shaped.status as { conditions?: unknown } | undefined)?.conditions,
          )) {
            expect([typeof type, typeof message]).toEqual(['string', 'string']);
          }
        },
      ),
      { seed: 9, numRuns: 500 },
    );
  });
});

it('finds texts, objects and lists at a path, and nothing in prototypes', () => {
  const value = { a: { b: 'c', list: [null, { x: 1 }, 'text'] } };
  expect(textAt(value, 'a', 'b')).toBe('c');
  expect(fieldsAt(value, 'a', 'list')).toBeUndefined();
  expect(entriesAt(value, 'a', 'list')).toEqual([{ x: 1 }]);
  expect(textAt(value, 'constructor', 'name')).toBeUndefined();
  for (const odd of [undefined, null, 1, 'a', []]) expect(textAt(odd, 'a')).toBeUndefined();
});
