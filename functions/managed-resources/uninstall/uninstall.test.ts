import { expect, it } from 'vitest';
import { isAtWork } from './uninstall.ts';

const now = new Date('2026-01-02T03:04:05Z');

it.each([
  ['was not asked to stop', {}, true],
  ['was asked to stop just now', { deletionTimestamp: '2026-01-02T03:05:00Z', deletionGracePeriodSeconds: 60 }, true],
  [
    'has ten minutes to stop, as helm-controller does',
    { deletionTimestamp: '2026-01-02T03:12:45Z', deletionGracePeriodSeconds: 600 },
    false,
  ],
  ['is on a lost node', { deletionTimestamp: '2026-01-02T03:02:45Z', deletionGracePeriodSeconds: 0 }, false],
] as const)('a controller that %s: %o may begin a reconciliation: %s', (_, metadata, expected) => {
  expect(isAtWork({ name: 'a', ...metadata }, now)).toBe(expected);
});
