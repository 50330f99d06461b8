import { describe, expect, it } from 'vitest';
import {
  CHANGE_SECONDS,
  compareOrder,
  isPaused,
  LONGEST_STATE,
  MOST_FAILED,
  MOST_IN_PROGRESS,
  MOST_WAITING,
  mostFailed,
  mostInProgress,
  phaseIn,
  type RolloutState,
  readState,
  rolloutText,
  STALE_SECONDS,
  stateAt,
  stateText,
} from './rollout.ts';

const state = (parts: Partial<RolloutState> = {}): RolloutState => ({
  ...{ revision: '0123456789ab', began: 1000, limits: { maxInProgress: '10%', maxFailed: '5%' }, done: 0 },
  ...{ waiting: new Map(), inProgress: new Map(), failed: new Set<string>(), accepted: 0, continued: undefined },
  ...parts,
});
const names = (count: number, prefix = 's') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const waiting = (count: number, seen = 1000) =>
  new Map(names(count).map((name) => [name, { order: 'x'.repeat(63), seen }]));
const inProgress = (count: number, since = 1000) =>
  new Map(names(count, 'p'.repeat(60)).map((name) => [name, { order: 'x'.repeat(63), since, wasNotReady: false }]));

describe('the limits of a rollout', () => {
  it.each([
    ['10%', 200, 20],
    ['10%', 201, 21],
    ['1%', 3, 1],
    ['100%', 5000, 500],
    [7, 3, 7],
    [10_000, 5000, 500],
  ])('%s of %i Shoots are at most %i in progress', (maxInProgress, shoots, most) => {
    expect(mostInProgress(state({ limits: { maxInProgress, maxFailed: 0 } }), shoots)).toBe(most);
  });

  it.each([
    ['5%', 200, 10],
    ['5%', 19, 0],
    ['0%', 200, 0],
    [3, 200, 3],
  ])('%s of %i Shoots are %i that may fail', (maxFailed, shoots, most) => {
    expect(mostFailed(state({ limits: { maxInProgress: 1, maxFailed } }), shoots)).toBe(most);
  });

  it('pauses with one failure more, unless a member has accepted as many', () => {
    const limits = { maxInProgress: 1, maxFailed: 2 };
    const failing = (count: number, accepted = 0) => state({ limits, failed: new Set(names(count)), accepted });
    for (const one of [failing(2), failing(5, 3)]) expect(isPaused(one, 100)).toBe(false);
    for (const one of [failing(3), failing(6, 3)]) expect(isPaused(one, 100)).toBe(true);
    const all = { maxInProgress: 1, maxFailed: '100%' };
    expect(isPaused(state({ limits: all, failed: new Set(names(MOST_FAILED)) }), 5000)).toBe(true);
  });
});

describe('the state at a time', () => {
  it('has no Shoots that were not seen for long, and counts those that never became Ready as failed', () => {
    const late = state({
      waiting: waiting(1),
      inProgress: new Map([
        ['a', { order: undefined, since: 1000, wasNotReady: false }],
        ['b', { order: undefined, since: 1000, wasNotReady: true }],
        ['c', { order: undefined, since: 1001, wasNotReady: false }],
      ]),
    });
    expect(stateAt(late, 1000 + CHANGE_SECONDS - 1, new Set())).toBe(late);
    const after = stateAt(late, 1000 + CHANGE_SECONDS, new Set());
    expect([...after.inProgress.keys()]).toEqual(['c']);
    expect([...after.failed]).toEqual(['a']);
    expect(after.waiting.size).toBe(1);
    expect(stateAt(late, 1000 + STALE_SECONDS, new Set()).waiting.size).toBe(0);
  });

  it('orders numbers before texts, and Shoots without the label last', () => {
    expect(['b', undefined, '10', 'a', '9'].sort(compareOrder)).toEqual(['9', '10', 'a', 'b', undefined]);
    expect(compareOrder(undefined, undefined)).toBe(0);
  });
});

describe('the text of a state', () => {
  it('names Shoots of a landscape by their seed, which may have dots and a long name', () => {
    const failed = ['aws.eu/shoot--foo--bar', `shoot--garden-foo--${'x'.repeat(63)}/kube-system`];
    expect(readState(stateText(state({ failed: new Set(failed) })))?.failed).toEqual(new Set(failed));
    for (const other of ['a/b/c', 'A/b', '/b', 'a/'])
      expect(readState(stateText(state({ failed: new Set([other]) })))).toBeUndefined();
  });

  it('is read as it was written', () => {
    const full = state({
      waiting: new Map([['a', { order: undefined, seen: 5 }]]),
      inProgress: new Map([['b', { order: 'dev', since: 6, wasNotReady: true }]]),
      failed: new Set(['c']),
      ...{ done: 3, accepted: 1, continued: '0123456789ab.1' },
    });
    expect(readState(stateText(full))).toEqual(full);
    expect(readState(stateText(state()))).toEqual(state());
  });

  it('stays far below what an API server stores, however many Shoots there are', () => {
    const largest = state({
      waiting: waiting(MOST_WAITING),
      inProgress: inProgress(MOST_IN_PROGRESS),
      failed: new Set(names(MOST_FAILED, 'f'.repeat(60))),
    });
    expect(stateText(largest).length).toBeLessThan(LONGEST_STATE);
    expect(readState(stateText(largest))).toEqual(largest);
    expect(rolloutText(largest, 5000).length).toBeLessThan(1000);
    const inLandscape = (kind: string, count: number) => names(count, `${kind.repeat(197)}/${'s'.repeat(59)}`);
    const ofLandscape = state({
      waiting: new Map(inLandscape('w', MOST_WAITING).map((name) => [name, { order: '99', seen: 1_800_000_000 }])),
      inProgress: new Map(
        inLandscape('p', MOST_IN_PROGRESS).map((name) => [
          name,
          { order: '99', since: 1_800_000_000, wasNotReady: true },
        ]),
      ),
      failed: new Set(inLandscape('f', MOST_FAILED)),
    });
    expect(readState(stateText(ofLandscape))).toEqual(ofLandscape);
  });

  const written = JSON.parse(stateText(state({ waiting: waiting(1) })));
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no JSON', '{'],
    ['null', 'null'],
    ['another version', { ...written, version: 2 }],
    ['a beginning that is no time', { ...written, began: 8_640_000_000_001 }],
    ['another revision', { ...written, revision: '<script>' }],
    ['a limit without a number', { ...written, limits: { maxInProgress: 'all', maxFailed: 0 } }],
    ['a negative number', { ...written, done: -1 }],
    ['a name that is none', { ...written, failed: ['../../other'] }],
    ['a label that is too long', { ...written, waiting: [['a', 'x'.repeat(64), 1]] }],
    ['too many Shoots', { ...written, failed: names(MOST_FAILED + 1) }],
    ['a long request', { ...written, continued: 'x'.repeat(64) }],
    ['too much', `${' '.repeat(LONGEST_STATE)}${JSON.stringify(written)}`],
  ])('is not read when a member has written %s', (_, value) => {
    expect(readState(JSON.stringify(written))).toBeDefined();
    expect(readState(value === undefined || typeof value === 'string' ? value : JSON.stringify(value))).toBeUndefined();
  });
});

describe('what members read', () => {
  it('counts the Shoots of a rollout', () => {
    const under = state({ done: 12, waiting: waiting(3), inProgress: inProgress(2), failed: new Set(['a']) });
    expect(rolloutText(under, 200)).toBe(
      'Revision 0123456789ab is under way: 12 done, 2 in progress, 3 waiting, 1 failed (a).',
    );
    expect(rolloutText(state({ waiting: waiting(MOST_WAITING) }), 200)).toContain('at least 100 waiting');
    expect(rolloutText(state({ done: 200 }), 200)).toBe(
      'Revision 0123456789ab has ended: 200 done, 0 in progress, 0 waiting, 0 failed.',
    );
  });

  it('says why a rollout is paused and what continues it', () => {
    const paused = state({ waiting: waiting(3), failed: new Set(names(11)) });
    expect(rolloutText(paused, 200)).toBe(
      'Revision 0123456789ab is paused, because more than 10 failed: 0 done, 0 in progress, 3 waiting, 11 failed ' +
        '(s0, s1, s2, s3, s4, …). It continues when they are Ready, or with the annotation ' +
        'flux.extensions.gardener.cloud/continue=0123456789ab.11 on flux-config.',
    );
  });

  it('says in which phase it is', () => {
    const phaseOf = (parts: Partial<RolloutState>) => phaseIn(rolloutText(state(parts), 200));
    expect(phaseOf({ waiting: waiting(3) })).toBe('in-progress');
    expect(phaseOf({ waiting: waiting(3), failed: new Set(names(11)) })).toBe('paused');
    expect([phaseOf({ done: 200 }), phaseIn(null)]).toEqual([null, null]);
  });
});

describe('a rollout that pauses again with as many failures', () => {
  const tokenIn = (continued: string | undefined) => {
    const limits = { maxInProgress: 1, maxFailed: 0 };
    const paused = state({ limits, failed: new Set(['a', 'b']), accepted: 1, continued });
    return /=([^ ]+) on flux-config/.exec(rolloutText(paused, 10))?.[1];
  };

  it('asks for another value of the annotation than the one that has been carried out', () => {
    expect(tokenIn(undefined)).toBe('0123456789ab.2');
    expect(tokenIn('0123456789ab.2')).toBe('0123456789ab.2.again');
    expect(tokenIn('0123456789ab.2.again')).toBe('0123456789ab.2');
  });
});
