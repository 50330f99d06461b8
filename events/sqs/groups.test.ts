import { describe, expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { causeOf, changeOf, recordOf } from '../testing.ts';
import { groupRecords } from './groups.ts';

const notBefore = '2026-01-02T03:04:05.000Z';
const failing = (attempt: number): Cause => ({ type: 'notBefore', notBefore, attempt });
const resync: Cause = { type: 'resync', epoch: 4 };
const rest = (after: string): Cause => ({ type: 'continue', after, token: 't', hop: 2, state: 'c.7' });
const edit = (resourceVersion: string) => causeOf({ resourceVersion });

/** Groups changes of one key, each with its receive count. */
function groupOf(...received: [Cause, number][]) {
  const records = received.map(([cause, receiveCount]) => recordOf(changeOf({ cause }), { receiveCount }));
  const [group] = groupRecords(records, 'managed-resources').groups;
  if (group === undefined) throw new Error('no group');
  return group;
}

describe('a group', () => {
  const at = (cause: Cause, receiveCount: number): [Cause, number] => [cause, receiveCount];
  it.each<[string, [Cause, number][], Cause, number]>([
    ['the freshest', [at(failing(38), 1), at(edit('7'), 2)], edit('7'), 2],
    ['the freshest, wherever it is', [at(edit('6'), 1), at(failing(38), 1)], edit('6'), 1],
    ['the newest of equally fresh ones', [at(edit('6'), 1), at(edit('7'), 1)], edit('7'), 1],
    ['a failure before a resync, which would begin it again', [at(failing(11), 1), at(resync, 1)], failing(11), 12],
    ['an edit before the rest of a pass, which is part of it', [at(edit('7'), 2), at(rest('m'), 1)], edit('7'), 2],
    ['the earlier rest of two passes', [at(rest('x'), 1), at(rest('m'), 3), at(rest('n'), 1)], rest('m'), 3],
  ])('keeps %s', (_, received, cause, attempt) => {
    const { kept } = groupOf(...received);
    expect(kept.change.cause).toEqual(cause);
    expect(kept.attempt).toBe(attempt);
  });

  it('is a resync only if nothing else asks for the run', () => {
    expect(groupOf([resync, 1]).isResync).toBe(true);
    expect(groupOf([resync, 1], [edit('7'), 1]).isResync).toBe(false);
  });
});
