import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause, ChangeRequest } from '../shared/runtime/change-request.ts';
import { changeId, encodeChange, keyId, parseChange } from './change.ts';
import { causeOf, changeOf } from './testing.ts';

const name = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const cause: fc.Arbitrary<Cause> = fc.oneof(
  fc.record({
    type: fc.constant('object' as const),
    cluster: name,
    kind: name,
    name,
    uid: name,
    resourceVersion: name,
    deleted: fc.boolean(),
    also: name,
    awaited: fc.boolean(),
    listed: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('notBefore' as const),
    notBefore: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('9000-01-01') })
      .map((date) => date.toISOString()),
  }),
  fc.record({
    type: fc.constant('continue' as const),
    after: fc.oneof(name, fc.constant('')),
    token: name,
    hop: fc.nat(),
    state: name,
    again: fc.boolean(),
  }),
  fc.record({ type: fc.constant('resync' as const), epoch: fc.nat() }),
  fc.record({ type: fc.constant('redrive' as const), nonce: name }),
);
const change: fc.Arbitrary<ChangeRequest> = fc.record({
  function: fc.stringMatching(/^[a-z]{1,8}$/),
  key: fc.record({ cluster: name, namespace: name, name }),
  cause,
});

describe('a change on the wire', () => {
  it('survives encoding and parsing', () => {
    fc.assert(
      fc.property(change, (sent) => {
        expect(parseChange(encodeChange(sent))).toEqual({ v: 1, ...sent });
      }),
    );
  });

  it.each([
    ['another version', { v: 2 }, 'v'],
    ['an unknown field', { object: { data: 'c2VjcmV0' } }, 'body'],
    ['a key that is not a name', { key: { cluster: 'a/b', namespace: 'n', name: 'n' } }, 'key.cluster'],
    ['an object inside the cause', { cause: { ...causeOf(), spec: { password: 'c2VjcmV0' } } }, 'cause'],
    ['no cause', { cause: undefined }, 'cause'],
  ])('is rejected with %s', (_, wrong, path) => {
    const body = JSON.stringify({ v: 1, ...changeOf(), ...wrong });
    expect(() => parseChange(body)).toThrow(`${path} (`);
    expect(() => parseChange(body)).not.toThrow('c2VjcmV0');
  });

  it('rejects a body that is not JSON, without quoting it', () => {
    expect(() => parseChange('token: c2VjcmV0')).toThrow('is not JSON');
    expect(() => parseChange('token: c2VjcmV0')).not.toThrow('c2VjcmV0');
  });

  it('rejects a body that is too long for a change, without parsing it', () => {
    expect(() => parseChange('['.repeat(1_000_000))).toThrow('has more than 16384 characters and is not a change');
  });

  it('carries only the fields of the request', () => {
    const more = { ...changeOf(), object: { data: 'c2VjcmV0' } };
    expect(encodeChange(more)).not.toContain('c2VjcmV0');
    const inside = { ...changeOf(), cause: { ...causeOf(), spec: { name: 'c2VjcmV0' }, password: 'c2VjcmV0' } };
    expect(encodeChange(inside)).not.toContain('c2VjcmV0');
  });

  describe('of a newer minor version', () => {
    const additions = { urgent: true, hops: 3, seed: 'my-seed', since: '2026-11-22T12:00:00.000Z' };

    it('is read without the flags, counts, times and names that it adds', () => {
      for (const cause of [causeOf(), { type: 'resync' as const, epoch: 7 }]) {
        const known = changeOf({ cause });
        const newer = JSON.stringify({ v: 1, ...known, ...additions, cause: { ...cause, ...additions } });
        expect(parseChange(newer)).toEqual({ v: 1, ...known });
        expect(encodeChange(parseChange(newer))).toBe(encodeChange(known));
        expect(changeId(parseChange(newer))).toBe(changeId(known));
      }
    });

    it.each([
      ['an object', { data: {} }],
      ['a list', { data: ['c2VjcmV0'] }],
      ['nothing', { data: null }],
      ['a private key', { key: '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0' }],
      ['a token', { token: 'eyJhbGciOiJSUzI1NiJ9.c2VjcmV0' }],
      ['the data of a Secret', { password: 'c2VjcmV0' }],
      ['a text', { note: 'c2VjcmV0 in a sentence' }],
      ['a long name', { name: 'x'.repeat(65) }],
      ['many fields', Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`field${n}`, true]))],
    ])('is rejected when it adds %s', (_, added) => {
      const other = { ...added, type: 'resync', epoch: 1 };
      const inCause = JSON.stringify({ v: 1, ...changeOf(), cause: other });
      expect(() => parseChange(inCause)).toThrow('cause (unrecognized_keys)');
      const inBody = JSON.stringify({ v: 1, ...added, ...changeOf({ cause: { type: 'resync', epoch: 1 } }) });
      if (!('key' in added)) expect(() => parseChange(inBody)).toThrow('body (unrecognized_keys)');
      expect(() => parseChange(inCause)).not.toThrow('c2VjcmV0');
    });

    it('is rejected when it names its object in another way: a key has three parts', () => {
      const key = { ...changeOf().key, region: 'eu' };
      expect(() => parseChange(JSON.stringify({ v: 1, ...changeOf(), key }))).toThrow('key (unrecognized_keys)');
    });
  });
});

it.each([
  ['keyId', keyId],
  ['changeId', changeId],
] as const)('%s differs by function and by every part of the key, and fits the limits of SQS', (_, idOf) => {
  const { key } = changeOf();
  const ids = [
    changeOf(),
    changeOf({ function: 'readiness' }),
    changeOf({ key: { ...key, cluster: 'other' } }),
    changeOf({ key: { ...key, namespace: 'other' } }),
    changeOf({ key: { ...key, name: 'other' } }),
  ].map(idOf);
  expect(new Set(ids)).toHaveLength(5);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
});

it('keyId is equal for all causes of a key', () => {
  expect(keyId(changeOf({ cause: { type: 'resync', epoch: 7 } }))).toBe(keyId(changeOf()));
});

describe('changeId', () => {
  it('is equal for a change that has become awaited: the queue has it already', () => {
    const id = changeId(changeOf());
    expect(changeId(changeOf({ cause: causeOf({ awaited: true }) }))).toBe(id);
    expect(changeId(changeOf({ cause: causeOf({ listed: true }) }))).toBe(id);
  });

  it('differs for every other change of the same key', () => {
    const causes: Cause[] = [
      causeOf({ resourceVersion: '1' }),
      causeOf({ resourceVersion: '2' }),
      causeOf({ resourceVersion: '2', deleted: true }),
      causeOf({ resourceVersion: '2', also: 'b2xk' }),
      causeOf({ resourceVersion: '2', also: 'bmV3' }),
      causeOf({ resourceVersion: '2', uid: 'recreated' }),
      causeOf({ resourceVersion: '2', kind: 'Cluster' }),
      { type: 'notBefore', notBefore: '2026-01-01T00:00:00.000Z' },
      { type: 'notBefore', notBefore: '2026-01-01T00:00:05.000Z' },
      { type: 'notBefore', notBefore: '2026-01-01T00:00:05.000Z', attempt: 9 },
      { type: 'notBefore', notBefore: '2026-01-01T00:00:05.000Z', attempt: 39 },
      { type: 'continue', after: 'a', token: 't', hop: 1, state: 'c.7' },
      { type: 'continue', after: 'a', token: 't', hop: 1, state: 'c.8' },
      { type: 'continue', after: 'a', token: 't', hop: 1, state: 'c.8', again: true },
      { type: 'continue', after: 'a', hop: 1, state: 'c.8' },
      { type: 'resync', epoch: 1 },
      { type: 'resync', epoch: 2 },
      { type: 'redrive', nonce: 'a' },
      { type: 'redrive', nonce: 'b' },
    ];
    expect(new Set(causes.map((cause) => changeId(changeOf({ cause }))))).toHaveLength(causes.length);
  });
});
