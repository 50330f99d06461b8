import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import type { Condition } from '../../shared/gardener/types.ts';
import { healthWhilePaused, SHOOT_HEALTH, shootHealth } from './health.ts';
import type { Verdict } from './verdict.ts';

const now = new Date('2026-03-04T05:06:07Z');
const verdict = (type: Verdict['type'], parts: Partial<Verdict> = {}): Verdict => ({
  ...{ type, status: 'True', reason: 'Ready', message: `${type} is fine.` },
  ...parts,
});
const fine = [verdict('FluxReady'), verdict('SourceReady'), verdict('KustomizationReady')];
const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
const failing = [verdict('FluxReady'), verdict('SourceReady', { status: 'False', message: 'No branch main.', codes })];
const followed = appliedFactory({ managedResources: { 'shoot-flux-controllers': 'a', 'shoot-flux-sync': 'b' } });
const live = (status: Condition['status'], secondsAgo: number) =>
  conditionFactory({
    ...{ type: SHOOT_HEALTH, status },
    lastTransitionTime: new Date(now.getTime() - secondsAgo * 1000).toISOString(),
  });

describe('shootHealth', () => {
  it('is True while everything that follows the configuration is Ready, also after a failure', () => {
    const healthy = {
      type: SHOOT_HEALTH,
      status: 'True',
      reason: 'HealthCheckSuccessful',
      message: 'Flux is healthy.',
    };
    expect(shootHealth(followed, fine, undefined, now)).toEqual(healthy);
    expect(shootHealth(followed, fine, live('False', 900), now)).toEqual(healthy);
  });

  it.each<[string, Condition | undefined, Condition['status'], string]>([
    ['not assessed before', undefined, 'Progressing', 'HealthCheckProgressing'],
    ['healthy for a long time', live('True', 9000), 'Progressing', 'HealthCheckProgressing'],
    ['failing for 4 minutes', live('Progressing', 299), 'Progressing', 'HealthCheckProgressing'],
    ['failing for 5 minutes', live('Progressing', 300), 'False', 'HealthCheckUnsuccessful'],
    ['False since a second ago', live('False', 1), 'False', 'HealthCheckUnsuccessful'],
    ['Unknown since a second ago', live('Unknown', 1), 'False', 'HealthCheckUnsuccessful'],
  ])('gives a failure a grace period: %s', (_, before, status, reason) => {
    expect(shootHealth(followed, failing, before, now)).toMatchObject({ status, reason, message: 'No branch main.' });
  });

  it('carries the codes when the grace period is over', () => {
    expect(shootHealth(followed, failing, live('False', 1), now)?.codes).toEqual(codes);
    expect(shootHealth(followed, failing, undefined, now)).not.toHaveProperty('codes');
  });

  it('ignores suspended objects', () => {
    const suspended = verdict('KustomizationReady', { status: 'False', reason: 'Suspended', message: 'Suspended.' });
    expect(shootHealth(followed, [verdict('FluxReady'), suspended], live('False', 900), now)).toMatchObject({
      ...{ status: 'True', message: 'Flux is healthy, apart from suspended objects.' },
    });
    expect(shootHealth(followed, [...failing, suspended], live('False', 900), now)?.status).toBe('False');
  });

  it('is Unknown, not False, when the shoot cannot be reached', () => {
    const unknown = [verdict('FluxReady', { status: 'Unknown', message: 'Not reachable.' })];
    expect(shootHealth(followed, unknown, live('Progressing', 600), now)).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
    });
  });

  it('ignores what the sync mode has released', () => {
    const sync = appliedFactory({ managedResources: { 'shoot-flux-secrets': 'a', 'shoot-flux-sync': 'b' } });
    const withoutControllers = [verdict('FluxReady', { status: 'False' }), verdict('SourceReady')];
    expect(shootHealth(sync, withoutControllers, live('False', 900), now)?.status).toBe('True');
    const once = appliedFactory({ managedResources: { 'shoot-flux-secrets': 'a' } });
    expect(shootHealth(once, failing, live('False', 900), now)).toBeUndefined();
  });
});

describe('healthWhilePaused', () => {
  it('is True while the Shoot is hibernated', () => {
    expect(healthWhilePaused(live('False', 1), true)).toMatchObject({
      status: 'True',
      message: 'The Shoot is hibernated.',
    });
  });

  it('adds no condition, and keeps the published one while Flux changes', () => {
    expect(healthWhilePaused(undefined, true)).toBeUndefined();
    expect(healthWhilePaused(live('False', 1), false)).toEqual(live('False', 1));
  });
});
