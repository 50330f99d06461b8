import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryableError, retryWithin, TerminalError } from '../shared/errors.ts';
import { ClusterDownError, ConflictError, KubeError, UnreachableError } from '../shared/kube/errors.ts';
import { createClusterHealth } from '../shared/runtime/cluster-health.ts';
import { afterFailure, decideRetry, LAST_ATTEMPT } from './retry.ts';

const failure = new RetryableError('the seed does not answer');
const waitsOf = (error: unknown, attempts: number) =>
  Array.from({ length: attempts }, (_, index) => decideRetry(error, index + 1, 1));

describe('decideRetry', () => {
  it('backs off from a second to a quarter of an hour', () => {
    const seconds = [...[1, 2, 4, 8, 16, 32, 60, 60], ...[60, 120, 240, 480, 900]];
    expect(waitsOf(failure, 13)).toEqual(seconds.map((each) => ({ type: 'wait', seconds: each })));
  });

  it('retries within the requested time while gardenlet may wait, then backs off', () => {
    const waits = waitsOf(retryWithin(new RetryableError('gardenlet waits'), 15), 22);
    expect(waits.slice(0, 20).every((wait) => 'seconds' in wait && wait.seconds <= 15)).toBe(true);
    expect(waits.slice(20)).toEqual([60, 120].map((seconds) => ({ type: 'wait', seconds })));
  });

  it('never waits less than the Retry-After, in any attempt', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: LAST_ATTEMPT - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 3600 }),
        fc.option(fc.constant(15)),
        (attempt, random, retryAfterSeconds, within) => {
          const error = new KubeError('busy', 503, 'ServiceUnavailable', { retryAfterSeconds });
          const wait = decideRetry(within === null ? error : retryWithin(error, within), attempt, random);
          if (wait.type === 'deadLetter') throw new Error('given up');
          expect(wait.seconds).toBeGreaterThanOrEqual(retryAfterSeconds);
        },
      ),
    );
  });

  it('retries at once after a conflict, and backs off after repeated conflicts', () => {
    const waits = waitsOf(new ConflictError('changed', 409, 'Conflict'), 9);
    expect(waits.slice(0, 8)).toEqual([0, 0, 1, 1, 1, 1, 1, 1].map((seconds) => ({ type: 'wait', seconds })));
    expect(waits[8]).toEqual({ type: 'wait', seconds: 60 });
  });

  it('never retries terminal errors, and limits all other retries', () => {
    expect(decideRetry(new TerminalError('no such thing'), 1, 0)).toEqual({ type: 'deadLetter' });
    expect(decideRetry(failure, LAST_ATTEMPT, 0)).toEqual({ type: 'deadLetter' });
    expect(decideRetry(failure, LAST_ATTEMPT - 1, 0).type).toBe('wait');
    expect(decideRetry(failure, 20, 0, 20)).toEqual({ type: 'deadLetter' });
  });

  it('spreads keys that failed together, within the limits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: LAST_ATTEMPT - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const wait = decideRetry(failure, attempt, random);
          expect(wait).toMatchObject({ seconds: expect.any(Number) });
          if (wait.type === 'deadLetter') return;
          expect(Number.isInteger(wait.seconds)).toBe(true);
          expect(wait.seconds).toBeGreaterThanOrEqual(1);
          expect(wait.seconds).toBeLessThanOrEqual(attempt <= 8 ? 60 : 900);
        },
      ),
    );
  });
});

const unanswered = new UnreachableError('no connection', 0, 'ConnectTimeout');
const down = new ClusterDownError('local', 'the seed local does not answer');
const decided = (error: unknown, attempt: number, isResync = false) =>
  afterFailure(error, { attempt, isResync }, LAST_ATTEMPT, 1);

describe('after a failed run of what a transport has brought', () => {
  it('a change of a cluster that is down is never given up, and is looked at every four minutes', () => {
    expect(decided(down, LAST_ATTEMPT + 5)).toEqual({ type: 'wait', seconds: 240, attempt: 11 });
    expect(decided(retryWithin(new ClusterDownError('local', 'down'), 15), LAST_ATTEMPT)).toMatchObject({
      seconds: 15,
    });
  });

  it('a change that is alone in a cluster that is down is never given up either: each of its calls is the probe', () => {
    const clock = { now: 0 };
    const guard = createClusterHealth({ now: () => clock.now }).guard('local');
    const call = () => {
      try {
        return guard.begin('GET secrets a/b').failed(unanswered) ?? unanswered;
      } catch (error) {
        return error;
      }
    };
    let attempt = 1;
    for (let run = 0; run < 100; run++) {
      const next = decided(call(), attempt);
      if (!('seconds' in next)) expect.fail(`given up after ${run} runs`);
      clock.now += next.seconds * 1000;
      attempt = 'attempt' in next ? next.attempt + 1 : attempt + 1;
    }
    expect(clock.now / 3_600_000).toBeGreaterThan(6);
  });

  it('a resync is dropped: at once if the cluster is down, else after its second attempt', () => {
    expect(decided(down, 1, true)).toEqual({ type: 'drop' });
    expect(decided(failure, 1, true)).toEqual({ type: 'wait', seconds: 1, attempt: 1 });
    expect(decided(failure, 2, true)).toEqual({ type: 'drop' });
    expect(decided(new TerminalError('never'), 1, true)).toEqual({ type: 'deadLetter' });
  });
});
