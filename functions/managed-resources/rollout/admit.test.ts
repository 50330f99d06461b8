import { describe, expect, it } from 'vitest';
import { CHANGE_SECONDS, MOST_WAITING, type RolloutState, rolloutText } from '../../../shared/gardener/rollout.ts';
import { recordResult } from '../../project-status/rollout.ts';
import { admit, type Candidate, secondsToGather } from './admit.ts';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const candidate = (shoot: string, parts: Partial<Candidate> = {}): Candidate => ({
  ...{ shoot, revision: A, rollout: { maxInProgress: 2, maxFailed: 1 }, order: undefined, isReady: true },
  ...{ untilWindow: 0, shoots: 10, ready: new Set(), continued: undefined, now: 1000 },
  ...parts,
});

/** Asks for several Shoots, one after the other. */
function ask(live: RolloutState | undefined, ...asking: Candidate[]): { admitted: string[]; state: RolloutState } {
  let state = live;
  const admitted: string[] = [];
  for (const one of asking) {
    const admission = admit(state, one);
    state = admission.state;
    if (admission.isAdmitted) admitted.push(one.shoot);
  }
  return { admitted, state: state as RolloutState };
}
const shoots = (names: string, parts: Partial<Candidate> = {}) =>
  names.split(' ').map((name) => candidate(name, parts));

describe('a Shoot', () => {
  it('gets a place while there are some, and waits otherwise', () => {
    const { admitted, state } = ask(undefined, ...shoots('a b c d'));
    expect(admitted).toEqual(['a', 'b']);
    expect([...state.waiting.keys()]).toEqual(['c', 'd']);
    expect([...state.inProgress.keys()]).toEqual(['a', 'b']);
  });

  it('keeps its place when others ask in between', () => {
    const { state } = ask(undefined, ...shoots('a b c'));
    const again = ask(state, ...shoots('c a b'));
    expect(again.admitted).toEqual(['a', 'b']);
    expect(again.state).toEqual(state);
  });

  it('outside of its maintenance window waits beside free places', () => {
    expect(ask(undefined, candidate('a', { untilWindow: 60 }), candidate('b')).admitted).toEqual(['b']);
  });

  it('that never became Ready leaves its place to the next one, and counts as failed', () => {
    const { state } = ask(undefined, ...shoots('a b c'));
    const later = ask(state, candidate('c', { now: 1000 + CHANGE_SECONDS }));
    expect(later.admitted).toEqual([]);
    expect([...later.state.failed]).toEqual(['a', 'b']);
    const allowed = { rollout: { maxInProgress: 2, maxFailed: 2 }, now: 1000 + CHANGE_SECONDS };
    expect(ask(state, candidate('c', allowed)).admitted).toEqual(['c']);
  });
});

describe('an order', () => {
  const rollout = { maxInProgress: 5, maxFailed: 0, order: 'stage' };
  const staged = (shoot: string, order: string | undefined, now: number) => candidate(shoot, { rollout, order, now });
  const later = 1000 + secondsToGather(10);

  it('is not decided before the first Shoots are known', () => {
    expect(ask(undefined, staged('prod', '2', 1000), staged('dev', '1', later - 1)).admitted).toEqual([]);
  });

  it('is decided later in a large project, where the first Shoot may be the last one to hear of the edit', () => {
    const shoots = 5000;
    // All of them have had their run within four minutes (docs/scale.md).
    const prod = (name: string, now: number) => ({ ...staged(name, '2', now), shoots });
    const { admitted, state } = ask(undefined, prod('a', 1000), prod('b', 1100), prod('c', 1239));
    expect(admitted).toEqual([]);
    const dev = ask(state, { ...staged('dev', '1', 1240), shoots }).state;
    const settled = 1000 + secondsToGather(shoots);
    expect(ask(dev, prod('a', settled), { ...staged('dev', '1', settled), shoots }).admitted).toEqual(['dev']);
  });

  it('begins with the lowest value, and with the next one when it is done', () => {
    const { state } = ask(
      undefined,
      staged('prod', '2', 1000),
      staged('dev', '1', 1000),
      staged('none', undefined, 1000),
    );
    const first = ask(state, staged('prod', '2', later), staged('dev', '1', later), staged('prod', '2', later));
    expect(first.admitted).toEqual(['dev']);
    const done = { ...first.state, inProgress: new Map() };
    expect(ask(done, staged('none', undefined, later), staged('prod', '2', later)).admitted).toEqual(['prod']);
  });

  it('does not wait for a Shoot that failed, nor for one that was not seen for long', () => {
    const { state } = ask(undefined, staged('dev', '1', 1000), staged('prod', '2', 1000));
    expect(ask(state, staged('prod', '2', later)).admitted).toEqual([]);
    expect(ask(state, staged('prod', '2', 1000 + 3600)).admitted).toEqual(['prod']);
    const failed = { ...state, waiting: new Map(), failed: new Set(['dev']) };
    const tolerant = { ...rollout, maxFailed: 1 };
    expect(ask(failed, candidate('prod', { rollout: tolerant, order: '2', now: later })).admitted).toEqual(['prod']);
  });

  it('lists the first ones where there is no room for all', () => {
    const many = Array.from({ length: MOST_WAITING }, (_, index) => staged(`p${index}`, '2', 1000));
    const { state } = ask(undefined, ...many, staged('dev', '1', 1000), staged('late', '3', 1000));
    expect(state.waiting.size).toBe(MOST_WAITING);
    expect(state.waiting.has('dev')).toBe(true);
    expect(state.waiting.has('late')).toBe(false);
  });
});

describe('a pause between the values of an order', () => {
  const rollout = { maxInProgress: 5, maxFailed: 0, order: 'wave' };
  const waved = (shoot: string, order: string | undefined, now: number) =>
    candidate(shoot, { rollout, order, now, pause: 600 });

  it('does not hold up the first value, and each of the others after the last change', () => {
    const first = ask(undefined, waved('canary', '0', 1000), waved('late', '1', 1000));
    expect(first.admitted).toEqual(['canary']);
    const done = recordResult(
      first.state,
      { shoot: 'canary', revision: A, end: 'ready', wasHealthy: true, now: 1300 },
      new Set(),
    );
    expect(ask(done, waved('late', '1', 1899)).admitted).toEqual([]);
    const second = ask(done, waved('late', '1', 1900), waved('more', '1', 1901), waved('last', undefined, 1902));
    expect(second.admitted).toEqual(['late', 'more']);
  });

  it('counts from the beginning where no Shoot is of the first values', () => {
    expect(ask(undefined, waved('late', '1', 1000), waved('late', '1', 1599)).admitted).toEqual([]);
    expect(ask(undefined, waved('late', '1', 1000), waved('late', '1', 1600)).admitted).toEqual(['late']);
  });
});

describe('a Shoot that has the revision already', () => {
  const again = (shoot: string, now: number, landscape = B) => candidate(shoot, { isAgain: true, landscape, now });

  it('begins a rollout that has ended once more, and goes on with one that has not', () => {
    const { state } = ask(undefined, ...shoots('a'));
    const ended = { ...state, inProgress: new Map(), done: 1, failed: new Set(['x']) };
    expect(ask(ended, again('a', 5000)).state).toMatchObject({ began: 5000, done: 0, failed: new Set() });
    expect(ask(state, again('b', 1100)).state).toMatchObject({ began: 1000 });
  });

  it('begins no other one with what the operators give the next Shoot', () => {
    const { state } = ask(undefined, again('a', 1000));
    const failed: RolloutState = { ...state, inProgress: new Map(), failed: new Set(['x', 'y']) };
    expect(ask(failed, again('b', 5000))).toMatchObject({ admitted: [], state: { began: 1000 } });
    expect(ask(failed, again('b', 5000, A))).toMatchObject({ admitted: ['b'], state: { began: 5000 } });
  });
});

describe('a rollout that is paused', () => {
  const { state } = ask(undefined, ...shoots('a b c'));
  const paused: RolloutState = { ...state, inProgress: new Map(), failed: new Set(['a', 'b']) };

  it('changes no further Shoot', () => {
    expect(ask(paused, ...shoots('c d')).admitted).toEqual([]);
  });

  it('continues when a member says so, and pauses again with as many failures more', () => {
    const continued = ask(paused, candidate('c', { continued: `${A}.2` }));
    expect(continued.admitted).toEqual(['c']);
    expect(continued.state).toMatchObject({ accepted: 2, continued: `${A}.2` });
    const again = { ...continued.state, inProgress: new Map(), failed: new Set(['a', 'b', 'c', 'd']) };
    expect(ask(again, candidate('e', { continued: `${A}.2` })).admitted).toEqual([]);
    expect(ask(again, candidate('e', { continued: `${A}.4` })).admitted).toEqual(['e']);
    expect(ask(again, candidate('e', { continued: `${A}.2.again` })).admitted).toEqual(['e']);
    const recovered = { ...again, failed: new Set(['a']) };
    expect(ask(recovered, candidate('e', { continued: `${A}.2` })).state.accepted).toBe(1);
  });

  it.each([undefined, '', 'true', `${B}.2`, `${A}.${'2'.repeat(60)}`])('does not continue with %j', (continued) => {
    expect(ask(paused, candidate('c', { continued })).admitted).toEqual([]);
  });
});

describe('the next edit', () => {
  const { state } = ask(undefined, ...shoots('a b c d'));
  const half: RolloutState = { ...state, done: 3, failed: new Set(['x', 'y']) };

  it('reaches the Shoots first that the former one has begun or broken', () => {
    const next = ask(half, ...shoots('c x a y d b', { revision: B }));
    expect(next.admitted).toEqual(['a', 'b']);
    expect(next.state).toMatchObject({ revision: B, done: 0 });
    expect([...next.state.inProgress.keys()]).toEqual(['a', 'b']);
    // Paused for all others, until those that failed are Ready.
    const free = { ...next.state, inProgress: new Map() };
    const later = ask(free, ...shoots('c x y d', { revision: B, isReady: false }));
    expect(later.admitted).toEqual(['x', 'y']);
    expect([...later.state.failed]).toEqual(['x', 'y']);
    expect(later.state.inProgress.get('x')).toMatchObject({ wasNotReady: false });
  });

  it('that comes back to an earlier one is not continued by what is left of a request for that', () => {
    const stale = `${B}.2`;
    const back = ask(half, ...shoots('c e', { revision: B, continued: stale }));
    expect(back.admitted).toEqual([]);
    expect(back.state).toMatchObject({ accepted: 0, continued: stale });
    const [, token = ''] = / annotation [^ =]+=(\S+) on flux-config\.$/.exec(rolloutText(back.state, 10)) ?? [];
    expect(token).not.toBe(stale);
    const free = { ...back.state, inProgress: new Map() };
    expect(ask(free, candidate('c', { revision: B, continued: token })).admitted).toEqual(['c']);
  });

  it('does not count failures of a rollout that has ended', () => {
    const ended = { ...half, waiting: new Map(), inProgress: new Map() };
    expect(ask(ended, candidate('c', { revision: B })).state.failed.size).toBe(0);
  });

  it('with other limits alone changes only the limits', () => {
    const wider = ask(state, candidate('c', { rollout: { maxInProgress: '50%', maxFailed: 0 } }));
    expect(wider.admitted).toEqual(['c']);
    expect(wider.state).toMatchObject({ revision: A, began: 1000, limits: { maxInProgress: '50%', maxFailed: 0 } });
  });
});
