import { describe, expect, it } from 'vitest';
import { conditionFactory } from '../../shared/gardener/testing.ts';
import { secondsUntilNextCheck } from './polling.ts';

const now = new Date('2026-03-04T05:06:07Z');

describe('secondsUntilNextCheck', () => {
  const changed = (secondsAgo: number) => [
    conditionFactory({ lastTransitionTime: new Date(now.getTime() - secondsAgo * 1000).toISOString() }),
  ];

  it.each([
    [10, 5],
    [300, 20],
    [3600, 120],
    [90_000, 600],
  ])('checks a shoot that is not Ready and last changed %i s ago again in %i s', (secondsAgo, expected) => {
    expect(secondsUntilNextCheck(changed(secondsAgo), false, false, now)).toBe(expected);
  });

  it('checks seldom when everything is Ready, and not at all when it is also released', () => {
    expect(secondsUntilNextCheck(changed(43_200), false, false, now, now.getTime() - 10_000)).toBe(5);
    expect(secondsUntilNextCheck(changed(10), true, false, now)).toBe(600);
    expect(secondsUntilNextCheck(changed(10), true, true, now)).toBeUndefined();
  });

  it.each([
    [0, false, 120],
    [600, false, 120],
    [0, true, undefined],
    [901, false, 600],
    [901, true, undefined],
  ])(
    'checks a Ready shoot again for a while, because Flux may use what was applied late (applied %i s ago, released %s: %s s)',
    (ago, released, seconds) => {
      expect(secondsUntilNextCheck(changed(43_200), true, released, now, now.getTime() - ago * 1000)).toBe(seconds);
    },
  );
});
