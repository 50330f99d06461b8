import { describe, expect, it } from 'vitest';
import { conditionFactory, extensionFactory, lastOperationFactory } from '../../shared/gardener/testing.ts';
import { growingPause } from '../../shared/runtime/growing-pause.ts';
import { isStuck, READY_CHECK_SECONDS, secondsUntilNextCheck, secondsWhileReconciling } from './next-check.ts';

const now = new Date('2026-03-04T05:06:07Z');
const ago = (seconds: number) => now.getTime() - seconds * 1000;
const time = (seconds: number) => new Date(ago(seconds)).toISOString();
const DAY = 86_400;

const changed = (secondsAgo: number) => [conditionFactory({ lastTransitionTime: time(secondsAgo) })];

describe('secondsUntilNextCheck', () => {
  it.each([
    [10, 5],
    [300, 20],
    [899, 20],
  ])('checks a shoot that is not Ready %i s after the last operation again in %i s', (secondsAgo, expected) => {
    expect(secondsUntilNextCheck(changed(DAY), false, false, { now, endedAt: ago(secondsAgo) })).toBe(expected);
  });

  it.each([
    [10, 60],
    [480, 120],
    [1200, 240],
    [3600, 480],
    [7680, 900],
    [DAY, 900],
  ])('checks a shoot that is not Ready and last changed %i s ago again in %i s', (secondsAgo, expected) => {
    expect(secondsUntilNextCheck(changed(secondsAgo), false, false, { now })).toBe(expected);
  });

  it('checks a shoot whose conditions change all the time at most once a minute', () => {
    expect(secondsUntilNextCheck([...changed(DAY), ...changed(0)], false, false, { now })).toBe(60);
  });

  it('survives conditions without a time', () => {
    const odd = [conditionFactory({ lastTransitionTime: 'yesterday' })];
    expect(secondsUntilNextCheck(odd, false, false, { now })).toBe(60);
  });

  it('checks seldom when everything is Ready, and not at all when it is also released', () => {
    expect(secondsUntilNextCheck(changed(10), true, false, { now })).toBe(READY_CHECK_SECONDS);
    expect(secondsUntilNextCheck(changed(10), true, true, { now })).toBeUndefined();
  });

  it.each([
    [0, false, 120],
    [600, false, 120],
    [0, true, undefined],
    [901, false, READY_CHECK_SECONDS],
    [901, true, undefined],
  ])(
    'checks a Ready shoot again for a while, because Flux may use what was applied late (applied %i s ago, released %s: %s s)',
    (seconds, released, expected) => {
      expect(secondsUntilNextCheck(changed(43_200), true, released, { now, endedAt: ago(seconds) })).toBe(expected);
    },
  );
});

it('while a controller only reconciles again checks soon after an operation, and as seldom as a Ready shoot later', () => {
  expect(secondsWhileReconciling({ now, endedAt: ago(10) })).toBe(20);
  expect(secondsWhileReconciling({ now, endedAt: ago(1000) })).toBe(READY_CHECK_SECONDS);
});

describe('the looks at one Shoot in any hour, its resync and that of managed-resources included', () => {
  /** Runs of a chain of requeues that does not merge with a resync. */
  const looks = (pause: number | undefined, phase = 0) =>
    pause === undefined ? 0 : Math.floor((3600 - phase - 1) / pause) + 1;
  const pause = (isReady: boolean, isReleased = false) =>
    secondsUntilNextCheck(changed(DAY), isReady, isReleased, { now });

  it('are 7 where all is Ready and followed, and 2 where it is released', () => {
    for (const phase of [0, READY_CHECK_SECONDS - 1]) expect(looks(pause(true), phase) + 2).toBe(7);
    expect(looks(pause(true, true)) + 2).toBe(2);
  });

  it('are 6 where something has been failing for a day: Flux, or the operation', () => {
    expect(looks(pause(false)) + 2).toBe(6);
    // managed-resources is woken by growingPause, and this function by the resync alone.
    const lastOperation = lastOperationFactory({ state: 'Error', lastUpdateTime: time(DAY) });
    expect(isStuck(extensionFactory({ status: { lastOperation } }), now)).toBe(true);
    expect(looks(growingPause(DAY, 60)) + 2).toBe(6);
  });
});

describe('isStuck', () => {
  const extension = (state: 'Error' | 'Processing' | 'Succeeded', seconds: number, failingSince?: string) =>
    extensionFactory({
      status: {
        lastOperation: lastOperationFactory({ state, lastUpdateTime: time(seconds) }),
        ...(failingSince !== undefined && { state: { failingSince } }),
      },
    });

  it('is true once an operation has failed or not ended for an hour', () => {
    expect(isStuck(extension('Error', 3601), now)).toBe(true);
    expect(isStuck(extension('Processing', 3601), now)).toBe(true);
    expect(isStuck(extension('Error', 100), now)).toBe(false);
    expect(isStuck(extension('Succeeded', DAY), now)).toBe(false);
    expect(isStuck(extensionFactory(), now)).toBe(false);
  });

  it('counts from the first failure, however often the error changes its words', () => {
    expect(isStuck(extension('Error', 1, time(DAY)), now)).toBe(true);
  });
});
