import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import { conditions } from './conditions.ts';
import type { Verdict } from './judge.ts';
import { nextLook } from './polling.ts';

const now = new Date('2026-03-04T05:06:07Z');
const verdict = (parts: Partial<Verdict> = {}): Verdict => ({
  type: 'FluxReady',
  status: 'True',
  reason: 'Fine',
  message: 'runs',
  ...parts,
});
const live = conditionFactory({ type: 'FluxReady', reason: 'Fine', message: 'runs' });
const foreign = conditionFactory({ type: 'SystemComponentsHealthy' });

describe('conditions', () => {
  it('preserves foreign ones (trap 11: the list is replaced as a whole)', () => {
    expect(conditions([foreign], [verdict()], appliedFactory(), now)?.map(({ type }) => type)).toEqual([
      'SystemComponentsHealthy',
      'FluxReady',
    ]);
  });

  it('says nothing new when nothing is new', () => {
    expect(conditions([foreign, live], [verdict()], appliedFactory(), now)).toBeUndefined();
  });

  it('keeps the time of transition when only the message differs', () => {
    const [next] = conditions([live], [verdict({ message: 'runs well' })], appliedFactory(), now) ?? [];
    expect(next).toMatchObject({ lastTransitionTime: live.lastTransitionTime, lastUpdateTime: '2026-03-04T05:06:07Z' });
  });

  it('removes what is no longer configured', () => {
    const stale = conditionFactory({ type: 'SourceReady' });
    expect(conditions([stale, live], [verdict()], appliedFactory(), now)?.map(({ type }) => type)).toEqual([
      'FluxReady',
    ]);
  });

  it('publishes that the last applied stays, and why', () => {
    const next = conditions([live], [verdict()], appliedFactory({ problem: 'mend it' }), now);
    expect(next?.[1]).toMatchObject({ type: 'ConfigurationFollowed', status: 'False', message: 'mend it' });
  });
});

describe('nextLook', () => {
  const changed = (secondsAgo: number) => [
    conditionFactory({ lastTransitionTime: new Date(now.getTime() - secondsAgo * 1000).toISOString() }),
  ];

  it.each([
    [10, 5],
    [300, 20],
    [3600, 120],
  ])('not Ready, last change %i s ago: again in %i s', (secondsAgo, expected) => {
    expect(nextLook(changed(secondsAgo), false, false, now)).toBe(expected);
  });

  it('rare when all is well, never when it is released too', () => {
    expect(nextLook(changed(10), true, false, now)).toBe(600);
    expect(nextLook(changed(10), true, true, now)).toBeUndefined();
  });
});
