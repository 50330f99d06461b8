import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/resource.ts';
import {
  changesFor,
  emptyStatusMap,
  isOwn,
  type Line,
  lineText,
  MOST_BYTES,
  MOST_KEYS,
  MOST_LINES,
  publishedLine,
  readLine,
  SUMMARY,
  shootAfter,
  summaryOf,
} from './status-map.ts';

const since = '2026-01-02T03:04:05Z';
const notReady: Line = { state: 'Not Ready', since, sentence: 'GitRepository main does not exist; create it.' };

const lines = fc.oneof(
  fc.constantFrom<Line>({ state: 'Ready' }, { state: 'Hibernated' }, { state: 'Ready', flux: 'v2.9.4' }),
  fc.record({
    state: fc.constantFrom<'Progressing' | 'Not Ready'>('Progressing', 'Not Ready'),
    since: fc.constant(since),
    flux: fc.constantFrom(undefined, 'v2.9.4'),
    after: fc.constantFrom(undefined, 'new', 'Not Ready'),
    sentence: fc.string({ minLength: 1, maxLength: 500, unit: 'grapheme' }),
  }),
);

const withData = (data: Record<string, unknown>): KubeObject => ({ ...emptyStatusMap('garden-foo'), data });
const withKeys = (count: number) =>
  withData(Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, 'Ready'])));

describe('the line of a Shoot', () => {
  it('names state, time and sentence', () => {
    expect(lineText(notReady, 300)).toBe(`Not Ready since ${since}: GitRepository main does not exist; create it.`);
    expect(lineText({ state: 'Ready' }, 300)).toBe('Ready');
    expect(lineText({ state: 'Ready', flux: 'v2.9.4' }, 300)).toBe('Ready (v2.9.4)');
    const upgraded = lineText({ state: 'Progressing', since, after: 'new', flux: 'v2.10.0-rc.1' }, 300);
    expect(upgraded).toBe(`Progressing since ${since} (v2.10.0-rc.1, new)`);
    expect(readLine(upgraded)).toEqual({ state: 'Progressing', since, after: 'new', flux: 'v2.10.0-rc.1' });
    const after = lineText({ state: 'Progressing', since, after: 'Not Ready', sentence: 'Applying.' }, 300);
    expect(after).toBe(`Progressing since ${since} (after Not Ready): Applying.`);
  });

  it('is one line of limited length, without credentials, and is read as it was written', () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 64, max: 300 }), (line, longest) => {
        const text = lineText(line, longest);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(longest);
        expect(text).not.toMatch(/[\r\n]/);
        expect(readLine(text)).toMatchObject({
          state: line.state,
          ...(line.since && { since }),
          ...(line.flux && { flux: line.flux }),
        });
        expect(lineText(readLine(text) as Line, longest)).toBe(text);
      }),
    );
    const secret = { ...notReady, sentence: 'cannot clone https://me:pa55word@git.example.com/fleet' };
    expect(lineText(secret, 300)).not.toContain('pa55word');
  });

  it.each([undefined, 1, '', 'ready', 'Ready!', 'Ready since', 'Not Ready since yesterday evening: x'])(
    'is not %j, which others have written',
    (text) => {
      expect(readLine(text)).toBeUndefined();
    },
  );
});

describe('the ConfigMap', () => {
  it('is recognised by its label', () => {
    expect(isOwn(emptyStatusMap('garden-foo'))).toBe(true);
    expect(isOwn({ ...emptyStatusMap('garden-foo'), metadata: { name: 'flux-status' } })).toBe(false);
  });

  it('counts Shoots by their lines, and nothing else', () => {
    const data = { a: 'Ready', b: lineText(notReady, 300), c: `Progressing since ${since}: x`, note: 'hello' };
    expect(summaryOf({ ...data, [SUMMARY]: 'old' })).toBe('1 Ready, 1 progressing, 1 not Ready of 3 Shoots');
    expect(summaryOf({ a: 'Ready', b: 'Hibernated' })).toBe(
      '1 Ready, 0 progressing, 0 not Ready, 1 hibernated of 2 Shoots',
    );
    expect(summaryOf({ a: 'Ready' })).toBe('1 Ready, 0 progressing, 0 not Ready of 1 Shoot');
  });

  it('changes only the line of the Shoot and the summary', () => {
    const map = withData({ a: 'Ready', note: 'mine' });
    expect(changesFor(map, 'b', notReady)).toEqual({
      b: lineText(notReady, 300),
      [SUMMARY]: '1 Ready, 0 progressing, 1 not Ready of 2 Shoots',
    });
    expect(changesFor(map, 'a', undefined)).toEqual({
      a: null,
      [SUMMARY]: '0 Ready, 0 progressing, 0 not Ready of 0 Shoots',
    });
  });

  it('finds the Shoot after another one, in a circle, and the line of one that is gone goes with the next change', () => {
    const map = withData({ b: 'Ready', note: 'mine', a: 'Ready', c: lineText(notReady, 300), [SUMMARY]: 'old' });
    expect(['a', 'b', 'bb', 'c'].map((shoot) => shootAfter(map, shoot))).toEqual(['b', 'c', 'c', 'a']);
    expect(shootAfter(withData({ a: 'Ready' }), 'a')).toBeUndefined();
    expect(changesFor(map, 'a', { state: 'Ready' }, 'b')).toEqual({
      b: null,
      [SUMMARY]: '1 Ready, 0 progressing, 1 not Ready of 2 Shoots',
    });
  });

  it('needs no change once it says so', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), lines), lines, (others, line) => {
        const data = Object.fromEntries(Object.entries(others).map(([name, one]) => [name, lineText(one, 300)]));
        const changes = changesFor(withData(data), 'own', line);
        expect(changes).not.toBe('no room');
        const next = withData({ ...data, ...(changes as object) });
        expect(changesFor(next, 'own', line)).toBeUndefined();
        expect(publishedLine(next, 'own')?.state).toBe(line.state);
      }),
    );
  });

  it('has room for 5,000 failing Shoots, and never exceeds what an API server stores', () => {
    const long = { ...notReady, sentence: 'é'.repeat(400) };
    const names = Array.from({ length: 5_000 }, (_, index) => [`shoot-${index}`, lineText(long, 64)]);
    expect(changesFor(withData(Object.fromEntries(names)), 'own', long)).toMatchObject({
      own: expect.stringMatching(/: é+…$/),
    });
    const beside = (left: number) => changesFor(withData({ note: 'x'.repeat(MOST_BYTES - left) }), 'own', long);
    expect(beside(1_000)).toMatchObject({ own: lineText(long, 300) });
    // A line without its sentence is shorter.
    expect(beside(120)).toMatchObject({ own: `Not Ready since ${since}` });
    expect(beside(50)).toBe('no room');
  });

  it('shortens sentences where there are many Shoots', () => {
    const long = { ...notReady, sentence: 'x'.repeat(400) };
    const lengthAmong = (count: number) => (changesFor(withKeys(count), 'own', long) as { own: string }).own.length;
    expect(lengthAmong(100)).toBe(298);
    expect(lengthAmong(2000)).toBeLessThan(150);
    expect(lengthAmong(2000)).toBeGreaterThan(60);
  });
});

describe('a ConfigMap with very many keys', () => {
  it('gets no further lines, and keeps those that it has', () => {
    const map = withKeys(MOST_LINES);
    expect(isOwn(map)).toBe(true);
    expect(changesFor(map, 'one-more', { state: 'Ready' })).toBe('no room');
    expect(changesFor(map, 's0', { state: 'Hibernated' })).toMatchObject({ s0: 'Hibernated' });
  });

  it('is left alone where members have added what would take long to read', () => {
    expect(isOwn(withKeys(MOST_KEYS + 1))).toBe(false);
  });
});
