import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import { configurationFollowed, mergeConditions, ownTypes } from './publish.ts';
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

describe('mergeConditions', () => {
  it('trap 11: preserves the conditions of others, because the patch replaces the whole list', () => {
    expect(mergeConditions([foreign], ownTypes, [verdict()], now)?.map(({ type }) => type)).toEqual([
      'ControlPlaneHealthy',
      'FluxReady',
    ]);
  });

  it('returns undefined when nothing changes', () => {
    expect(mergeConditions([foreign, live], ownTypes, [verdict()], now)).toBeUndefined();
  });

  it('keeps the transition time when only the message or the codes change', () => {
    const [next] = mergeConditions([live], ownTypes, [verdict({ message: 'runs well' })], now) ?? [];
    expect(next).toMatchObject({ lastTransitionTime: live.lastTransitionTime, lastUpdateTime: '2026-03-04T05:06:07Z' });
    const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
    expect(mergeConditions([live], ownTypes, [verdict({ codes })], now)).toMatchObject([{ codes }]);
    expect(mergeConditions([{ ...live, codes }], ownTypes, [verdict()], now)?.[0]).not.toHaveProperty('codes');
  });

  it('removes conditions of objects that are no longer configured', () => {
    const stale = conditionFactory({ type: 'SourceReady' });
    const health = conditionFactory({ type: 'SystemComponentsHealthy' });
    expect(mergeConditions([stale, live, health], ownTypes, [verdict()], now)?.map(({ type }) => type)).toEqual([
      'FluxReady',
    ]);
  });

  it('replaces only conditions of the given types', () => {
    const health = conditionFactory({ type: 'SystemComponentsHealthy' });
    expect(mergeConditions([live, health], ['SystemComponentsHealthy'], [], now)).toEqual([live]);
  });
});

describe('configurationFollowed', () => {
  it('reports that the last applied objects stay, and why', () => {
    expect(configurationFollowed(appliedFactory({ problem: 'correct it' }))).toMatchObject([
      { type: 'ConfigurationFollowed', status: 'False', message: 'correct it (config c0ffee)' },
    ]);
    expect(configurationFollowed(appliedFactory())).toEqual([]);
  });
});
