import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory } from '../../shared/gardener/testing.ts';
import type { Condition } from '../../shared/gardener/types.ts';
import { restingHealth, SHOOT_HEALTH, shootHealth } from './health.ts';
import type { Verdict } from './verdict.ts';

const now = new Date('2026-03-04T05:06:07Z');
const verdict = (type: Verdict['type'], parts: Partial<Verdict> = {}): Verdict => ({
  ...{ type, status: 'True', reason: 'Ready', message: `${type} is fine.` },
  ...parts,
});
const fine = [verdict('FluxReady'), verdict('SourceReady'), verdict('KustomizationReady')];
const codes = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
const broken = [verdict('FluxReady'), verdict('SourceReady', { status: 'False', message: 'No branch main.', codes })];
const followed = appliedFactory({ managedResources: { 'shoot-flux-controllers': 'a', 'shoot-flux-sync': 'b' } });
const live = (status: Condition['status'], secondsAgo: number) =>
  conditionFactory({
    ...{ type: SHOOT_HEALTH, status },
    lastTransitionTime: new Date(now.getTime() - secondsAgo * 1000).toISOString(),
  });

describe('shootHealth', () => {
  it('True while all that we follow is Ready, also after it was not', () => {
    const healthy = { type: SHOOT_HEALTH, status: 'True', reason: 'HealthCheckSuccessful', message: 'Flux works.' };
    expect(shootHealth(followed, fine, undefined, now)).toEqual(healthy);
    expect(shootHealth(followed, fine, live('False', 900), now)).toEqual(healthy);
  });

  it.each<[string, Condition | undefined, Condition['status'], string]>([
    ['never judged before', undefined, 'Progressing', 'HealthCheckProgressing'],
    ['healthy for long', live('True', 9000), 'Progressing', 'HealthCheckProgressing'],
    ['broken for 4 minutes', live('Progressing', 299), 'Progressing', 'HealthCheckProgressing'],
    ['broken for 5 minutes', live('Progressing', 300), 'False', 'HealthCheckUnsuccessful'],
    ['told just now', live('False', 1), 'False', 'HealthCheckUnsuccessful'],
    ['not known until now', live('Unknown', 1), 'False', 'HealthCheckUnsuccessful'],
  ])('what is broken has a grace period: %s', (_, before, status, reason) => {
    expect(shootHealth(followed, broken, before, now)).toMatchObject({ status, reason, message: 'No branch main.' });
  });

  it('carries the codes, once it counts', () => {
    expect(shootHealth(followed, broken, live('False', 1), now)?.codes).toEqual(codes);
    expect(shootHealth(followed, broken, undefined, now)).not.toHaveProperty('codes');
  });

  it('what is suspended on purpose does not count', () => {
    const suspended = verdict('KustomizationReady', { status: 'False', reason: 'Suspended', message: 'Suspended.' });
    expect(shootHealth(followed, [verdict('FluxReady'), suspended], live('False', 900), now)).toMatchObject({
      ...{ status: 'True', message: 'Flux works, as far as it is not suspended.' },
    });
    expect(shootHealth(followed, [...broken, suspended], live('False', 900), now)?.status).toBe('False');
  });

  it('a shoot that cannot be asked is Unknown, not False', () => {
    const unknown = [verdict('FluxReady', { status: 'Unknown', message: 'Not reachable.' })];
    expect(shootHealth(followed, unknown, live('Progressing', 600), now)).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
    });
  });

  it("what the mode has released is the user's own and does not count", () => {
    const sync = appliedFactory({ managedResources: { 'shoot-flux-secrets': 'a', 'shoot-flux-sync': 'b' } });
    const withoutControllers = [verdict('FluxReady', { status: 'False' }), verdict('SourceReady')];
    expect(shootHealth(sync, withoutControllers, live('False', 900), now)?.status).toBe('True');
    const once = appliedFactory({ managedResources: { 'shoot-flux-secrets': 'a' } });
    expect(shootHealth(once, broken, live('False', 900), now)).toBeUndefined();
  });
});

describe('restingHealth', () => {
  it('a hibernated Shoot is not unhealthy', () => {
    expect(restingHealth(live('False', 1), true)).toMatchObject({
      status: 'True',
      message: 'The Shoot is hibernated.',
    });
  });

  it('nothing is told that was not told before, and what is told stays while Flux changes', () => {
    expect(restingHealth(undefined, true)).toBeUndefined();
    expect(restingHealth(live('False', 1), false)).toEqual(live('False', 1));
  });
});
