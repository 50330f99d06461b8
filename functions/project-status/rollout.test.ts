import { describe, expect, it } from 'vitest';
import { CHANGE_SECONDS, type RolloutState, secondsUntilOver } from '../../shared/gardener/rollout.ts';
import { nextOf, type Result, recordResult } from './rollout.ts';

const revision = 'aaaaaaaaaaaa';
const place = { order: undefined, since: 1000, wasNotReady: false };
const state: RolloutState = {
  ...{ revision, began: 1000, limits: { maxInProgress: 3, maxFailed: 1 }, done: 5, accepted: 0, continued: undefined },
  waiting: new Map(['w', 'x', 'y'].map((name) => [name, { order: undefined, seen: 1000 }])),
  inProgress: new Map([
    ['p', place],
    ['broken', { ...place, wasNotReady: true }],
  ]),
  failed: new Set(['f']),
};
const ended = (shoot: string, end: Result['end'], parts: Partial<Result> = {}, live = state) =>
  recordResult(live, { shoot, revision, end, wasHealthy: true, now: 1100, ...parts }, new Set());
const listsOf = ({ waiting, inProgress, failed, done }: RolloutState) => ({
  ...{ waiting: [...waiting.keys()], inProgress: [...inProgress.keys()], failed: [...failed], done },
});
const before = listsOf(state);

describe('a Shoot in a rollout', () => {
  it('is done when it is Ready with the revision, also after it had failed', () => {
    expect(listsOf(ended('p', 'ready'))).toEqual({ ...before, inProgress: ['broken'], done: 6 });
    expect(listsOf(ended('f', 'ready'))).toEqual({ ...before, failed: [], done: 6 });
  });

  it('that the edit does not change waits no longer', () => {
    expect(listsOf(ended('w', 'ready'))).toEqual({ ...before, waiting: ['x', 'y'] });
  });

  it('has failed when it is not Ready, unless it was not Ready before', () => {
    expect(listsOf(ended('p', 'not ready'))).toEqual({ ...before, inProgress: ['broken'], failed: ['f', 'p'] });
    expect(listsOf(ended('broken', 'not ready'))).toEqual({ ...before, inProgress: ['p'], done: 6 });
  });

  it('that fails later counts as failed while the rollout is under way', () => {
    expect(listsOf(ended('z', 'not ready'))).toEqual({ ...before, failed: ['f', 'z'], done: 4 });
    expect(ended('z', 'not ready', { wasHealthy: false })).toBe(state);
    const over = { ...state, waiting: new Map(), inProgress: new Map() };
    expect(ended('z', 'not ready', {}, over)).toBe(over);
  });

  it.each<[string, Result['end'], Partial<Result>]>([
    ['is not judged yet', 'open', {}],
    ['has another revision', 'ready', { revision: 'bbbbbbbbbbbb' }],
    ['has none', 'ready', { revision: undefined }],
  ])('keeps its place when it %s', (_, end, parts) => {
    expect(ended('p', end, parts)).toBe(state);
  });

  it('has failed when nothing was heard of it in time, whatever another one reports', () => {
    const late = ended('z', 'open', { now: 1000 + CHANGE_SECONDS });
    expect(listsOf(late)).toEqual({ ...before, inProgress: [], failed: ['f', 'p'] });
    expect(secondsUntilOver(state, 1100)).toBeUndefined();
    const last = { ...state, waiting: new Map() };
    expect(secondsUntilOver(last, 1100)).toBe(CHANGE_SECONDS - 100);
    expect(secondsUntilOver(last, 9000)).toBe(1);
    // A member has written it: the longest time that a place lasts.
    const edited = new Map([['a', { order: undefined, since: 9e15, wasNotReady: false }]]);
    expect(secondsUntilOver({ ...last, inProgress: edited }, 1100)).toBe(CHANGE_SECONDS);
    expect(secondsUntilOver({ ...last, inProgress: new Map() }, 1100)).toBeUndefined();
  });

  it('leaves all lists with the extension or when it is hibernated', () => {
    for (const shoot of ['w', 'p', 'f']) {
      const { waiting, inProgress, failed, done } = listsOf(ended(shoot, 'gone', { revision: undefined }));
      expect([...waiting, ...inProgress, ...failed]).not.toContain(shoot);
      expect(waiting.length + inProgress.length + failed.length).toBe(5);
      expect(done).toBe(5);
    }
  });
});

describe('the Shoots to wake', () => {
  it('are as many as there are places, from the one after the Shoot that has ended', () => {
    expect(nextOf(state, 10, 'p')).toEqual(['w']);
    expect(nextOf(state, 10, 'x')).toEqual(['x']);
    const free = { ...state, inProgress: new Map() };
    expect(nextOf(free, 10, 'y')).toEqual(['y', 'w', 'x']);
    expect(nextOf({ ...free, failed: new Set(['f', 'g']) }, 10, 'y')).toEqual([]);
    expect(nextOf({ ...free, failed: new Set(['f', 'x']) }, 10, 'y')).toEqual(['x']);
    expect(nextOf({ ...free, failed: new Set(['x']) }, 10, 'y')).toEqual(['x', 'y', 'w']);
  });

  it('begin with the first value of the order', () => {
    const waiting = new Map([
      ['a', { order: 'prod', seen: 1000 }],
      ['b', { order: 'dev', seen: 1000 }],
    ]);
    expect(nextOf({ ...state, waiting }, 10, 'z')).toEqual(['b']);
  });
});
