import { describe, expect, it } from 'vitest';
import { type RolloutState, rolloutData } from '../../../shared/gardener/rollout.ts';
import { statusMapOf } from '../testing.ts';
import { explainNext } from './next.ts';

const now = new Date('2026-01-02T12:00:00Z');
const at = now.getTime() / 1000;
const subject = { namespace: 'garden-foo', name: 'bar', flags: [] };
const state: RolloutState = {
  ...{ revision: '0123456789ab', began: at - 600, limits: { maxInProgress: 1, maxFailed: 0 }, done: 3 },
  waiting: new Map([
    ['bar', { order: '2', seen: at - 60 }],
    ['baz', { order: '1', seen: at - 60 }],
    ['qux', { order: '3', seen: at - 60 }],
  ]),
  inProgress: new Map([['first', { order: '1', since: at - 300, wasNotReady: false }]]),
  ...{ failed: new Set<string>(), accepted: 0, continued: undefined },
};

const nextIn = (parts: Partial<RolloutState>, rollout = {}) => {
  const lines = { bar: { state: 'Ready' as const }, bad: { state: 'Not Ready' as const } };
  const statusMap = statusMapOf('garden-foo', lines, rolloutData({ ...state, ...parts }, 2));
  const settings = { maxInProgress: 1, maxFailed: 0, ...rollout };
  return explainNext(
    { shoot: undefined, line: lines.bar, statusMap, rollout: settings, extension: undefined },
    subject,
    now,
  );
};

describe('the next link', () => {
  it('says how many Shoots come before one that waits for its turn', () => {
    expect(nextIn({})).toMatchObject({
      mark: 'attention',
      text: 'waits for its turn in the rollout of revision 0123456789ab: 1 in progress, 1 of 3 waiting before this one',
      details: [
        expect.stringMatching(/^Rollout: Revision 0123456789ab is under way/),
        'the next check of Flux is within 12m',
      ],
    });
    expect(nextIn({}, { maintenanceWindow: true }).text).toMatch(
      /^waits for its turn and its maintenance window in the rollout/,
    );
  });

  it('is broken where a rollout is paused, and says what continues it', () => {
    expect(nextIn({ failed: new Set(['bad']) })).toMatchObject({
      mark: 'broken',
      sentence: expect.stringContaining(
        'or with the annotation flux.extensions.gardener.cloud/continue=0123456789ab.1 on flux-config.',
      ),
      command: 'kubectl get configmap flux-status -o jsonpath={.data.Rollout} --namespace garden-foo',
    });
  });

  it.each<[string, Partial<RolloutState>, string]>([
    [
      'is being changed',
      { waiting: new Map(), inProgress: new Map([['bar', { order: '1', since: at - 300, wasNotReady: false }]]) },
      'gets revision 0123456789ab now',
    ],
    ['has its turn behind it', { waiting: new Map() }, 'the next check of Flux is within 12m'],
  ])('of a Shoot that %s', (_, parts, text) => {
    expect(nextIn(parts).text).toBe(text);
  });
});
