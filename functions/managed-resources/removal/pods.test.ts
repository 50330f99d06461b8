import { expect, it } from 'vitest';
import { isAtWork } from './pods.ts';

const now = new Date('2026-01-02T03:04:05Z');

it.each([
  ['was not told to end', {}, true],
  ['was told just now', { deletionTimestamp: '2026-01-02T03:05:00Z', deletionGracePeriodSeconds: 60 }, true],
  [
    'helm-controller with ten minutes',
    { deletionTimestamp: '2026-01-02T03:12:45Z', deletionGracePeriodSeconds: 600 },
    false,
  ],
  ['on a node that is lost', { deletionTimestamp: '2026-01-02T03:02:45Z', deletionGracePeriodSeconds: 0 }, false],
] as const)('a controller that %s: %o takes something new: %s', (_, metadata, expected) => {
  expect(isAtWork({ name: 'a', ...metadata }, now)).toBe(expected);
});
