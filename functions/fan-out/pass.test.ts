import { describe, expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ForwardedCause } from './forwarded.ts';
import { beginning, continuation, MOST_HOPS, next, pageSize, START } from './pass.ts';

const forwarded = (resourceVersion = '7'): ForwardedCause => ({
  ...{ type: 'object', cluster: 'garden', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config' },
  ...{ uid: 'c', resourceVersion, also: 's' },
});
const rest = (after: string, more: object = {}): Cause => ({
  ...{ type: 'continue', after, token: `t-${after}`, hop: 3, state: 'c.7.s' },
  ...more,
});

describe('a pass over the Shoots of a project', () => {
  it('begins at the start, and continues where it stopped', () => {
    expect(beginning([forwarded()])).toEqual(START);
    expect(beginning([rest('m')])).toEqual({ after: 'm', token: 't-m', hop: 3, again: false });
  });

  it('continues from its earliest position', () => {
    expect(beginning([rest('x'), rest('m')])).toMatchObject({ after: 'm', again: false });
  });

  it('is followed by another one when something changed meanwhile', () => {
    expect(beginning([rest('m'), forwarded()])).toMatchObject({ after: 'm', again: true });
    expect(next({ ...START, after: 'm', again: true }, ['z'], undefined)).toEqual(START);
  });

  it('ends with the last page', () => {
    expect(next(START, ['a', 'z'], undefined)).toBeUndefined();
    expect(next(START, ['a', 'b'], 'token')).toEqual({ after: 'b', token: 'token', hop: 0, again: false });
  });

  it('never goes back, also when a list begins again', () => {
    expect(next({ ...START, after: 'm' }, ['a', 'b'], 'token')).toMatchObject({ after: 'm' });
  });

  it('continues with a change of its own for each edit, also at the same place of the same list', () => {
    const position = { after: 'm', token: 't', hop: 0, again: false };
    expect(continuation(position, forwarded('7'))).not.toEqual(continuation(position, forwarded('8')));
  });

  it('ends after so many runs', () => {
    expect(continuation({ ...START, hop: MOST_HOPS - 2 }, forwarded())).toMatchObject({ hop: MOST_HOPS - 1 });
    expect(continuation({ ...START, hop: MOST_HOPS - 1 }, forwarded())).toBeUndefined();
  });
});

describe('the size of a page', () => {
  it.each([
    ['doubles after a quick one', 50, 20, 100],
    ['stays after one of half a second', 50, 500, 50],
    ['halves after a slow one', 50, 2_000, 25],
    ['has an upper bound', 500, 1, 500],
    ['has a lower bound', 5, 8_000, 5],
  ])('%s', (_, last, tookMs, expected) => {
    expect(pageSize(last, tookMs)).toBe(expected);
  });
});
