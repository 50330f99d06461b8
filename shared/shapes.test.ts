import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from './kube/resource.ts';
import { entriesAt, fieldsAt, foreignObject, shapedConditions, shapedObject, textAt } from './shapes.ts';

const object = (parts: Record<string, unknown>) =>
  ({ apiVersion: 'v1', kind: 'Any', ...parts, metadata: { name: 'a', ...(parts.metadata as object) } }) as KubeObject;
const condition = {
  ...{ type: 'Ready', status: 'True', reason: 'Any', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' },
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
      { status: { conditions: [null, 7, condition] } },
      { conditions: [condition] },
    ],
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

  it.each([
    ...[{ labels: { a: 'b', c: 1 } }, { labels: JSON.parse('{"__proto__":{}}') }, { annotations: { a: 1 } }],
    ...[
      { finalizers: [null, 'f'] },
      { generation: '1' },
      { deletionTimestamp: 12 },
      { managedFields: [{ manager: 7 }] },
    ],
  ])('refuses odd metadata: %j', (metadata) => {
    expect(() => shapedObject(object({ metadata }))).toThrow('this is no object');
    const value = JSON.parse(JSON.stringify(object({ metadata })));
    expect(foreignObject(resources.configMaps, value)).toBeUndefined();
  });

  it.each([null, 'text', { metadata: null }, { metadata: { name: '' } }])(
    'refuses %j, which is not an object',
    (value) => {
      expect(() => shapedObject(value as KubeObject)).toThrow('this is no object');
    },
  );

  it('gives any object with a name a shape that needs no second look', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (spec, status) => {
        const shaped = shapedObject(object({ spec, status }));
        expect(shapedObject(shaped)).toEqual(shaped);
        const { conditions } = (shaped.status ?? {}) as { conditions?: unknown };
        for (const { type, message } of shapedConditions(conditions))
          expect([typeof type, typeof message]).toEqual(['string', 'string']);
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});

it('a Secret whose data is not text is none: an object with a length would become as many bytes', () => {
  const secret = (data: unknown) => foreignObject(resources.secrets, { metadata: { name: 'a' }, data });
  for (const odd of [{ a: { length: 1e9 } }, { a: ['b'] }, { a: 1 }, { a: null }, ['b'], 'b']) {
    expect(secret(odd)).toBeUndefined();
  }
  for (const usual of [{ a: 'Yg==' }, {}, null, undefined]) expect(secret(usual)).toBeDefined();
});

it('an object from an answer gets the kind of its resource, and loses fields of its metadata that are null', () => {
  const answer = { kind: 'PartialObjectMetadata', metadata: { name: 'a', deletionTimestamp: null } };
  expect(foreignObject(resources.configMaps, answer)).toEqual({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
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
