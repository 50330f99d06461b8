import { expect, test } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { causeOf } from '../testing.ts';
import { priorityOf } from './pending.ts';

test.each<[string, Cause, string]>([
  ['a live event', causeOf(), 'live'],
  ['an object that a list has found', causeOf({ listed: true }), 'background'],
  ['an object that gardenlet waits for', causeOf({ awaited: true }), 'awaited'],
  ['such an object, found by a list', causeOf({ awaited: true, listed: true }), 'awaited'],
  ['a resync', { type: 'resync', epoch: 1 }, 'background'],
  ['a requeue', { type: 'notBefore', notBefore: '2026-01-01T00:00:00.000Z' }, 'live'],
  ['a redrive', { type: 'redrive', nonce: 'a' }, 'live'],
])('the priority of %s', (_, cause, expected) => {
  expect(priorityOf(cause)).toBe(expected);
});
