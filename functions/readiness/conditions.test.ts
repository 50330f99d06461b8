import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import { allOurs, conditions, configurationFollowed } from './conditions.ts';
import { nextLook } from './polling.ts';
import type { Verdict } from './verdict.ts';

const now = new Date('2026-03-04T05:06:07Z');
const verdict = (parts: Partial<Verdict> = {}): Verdict => ({
  type: 'FluxReady',
  status: 'True',
  reason: 'Fine',
  message: 'runs',
  ...parts,
});
const live = conditionFactory({ type: 'FluxReady', reason: 'Fine', message: 'runs' });
const foreign = conditionFactory({ type: 'ControlPlaneHealthy' });

describe('conditions', () => {
  it('preserves foreign ones (trap 11: the list is replaced as a whole)', () => {
    expect(conditions([foreign], allOurs, [verdict()], now)?.map(({ type }) => type)).toEqual([
      'ControlPlaneHealthy',
      'FluxReady',
    ]);
  });

  it('says nothing new when nothing is new', () => {
    expect(conditions([foreign, live], allOurs, [verdict()], now)).toBeUndefined();
  });

  it('keeps the time of transition when only the message or the codes differ', () => {
    const [next] = conditions([live], allOurs, [verdict({ message: 'runs well' })], now) ?? [];
    expect(next).toMatchObject({ lastTransitionTime: live.lastTransitionTime, lastUpdateTime: '2026-03-04T05:06:07Z' });
    const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
    expect(conditions([live], allOurs, [verdict({ codes })], now)).toMatchObject([{ codes }]);
    expect(conditions([{ ...live, codes }], allOurs, [verdict()], now)?.[0]).not.toHaveProperty('codes');
  });

  it('removes what is no longer configured', () => {
    const stale = conditionFactory({ type: 'SourceReady' });
    const health = conditionFactory({ type: 'SystemComponentsHealthy' });
    expect(conditions([stale, live, health], allOurs, [verdict()], now)?.map(({ type }) => type)).toEqual([
      'FluxReady',
    ]);
  });

  it('replaces only the types that it is told', () => {
    const health = conditionFactory({ type: 'SystemComponentsHealthy' });
    expect(conditions([live, health], ['SystemComponentsHealthy'], [], now)).toEqual([live]);
  });
});

describe('configurationFollowed', () => {
  it('publishes that the last applied stays, and why', () => {
    expect(configurationFollowed(appliedFactory({ problem: 'mend it' }))).toMatchObject([
      { type: 'ConfigurationFollowed', status: 'False', message: 'mend it (config c0ffee)' },
    ]);
    expect(configurationFollowed(appliedFactory())).toEqual([]);
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
    [90_000, 600],
  ])('not Ready, last change %i s ago: again in %i s', (secondsAgo, expected) => {
    expect(nextLook(changed(secondsAgo), false, false, now)).toBe(expected);
  });

  it('rare when all is well, never when it is released too', () => {
    expect(nextLook(changed(43_200), false, false, now, now.getTime() - 10_000)).toBe(5);
    expect(nextLook(changed(10), true, false, now)).toBe(600);
    expect(nextLook(changed(10), true, true, now)).toBeUndefined();
  });

  it.each([
    [0, false, 120],
    [600, false, 120],
    [0, true, undefined],
    [901, false, 600],
    [901, true, undefined],
  ])(
    'Ready, applied %i s ago, released %s: again in %s s, because Flux may not have used it yet',
    (ago, released, seconds) => {
      expect(nextLook(changed(43_200), true, released, now, now.getTime() - ago * 1000)).toBe(seconds);
    },
  );
});
