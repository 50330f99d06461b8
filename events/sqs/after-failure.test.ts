import { describe, expect, it } from 'vitest';
import { RetryableError, retryWithin, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError, UnreachableError } from '../../shared/kube/errors.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { LAST_ATTEMPT } from '../run/retry.ts';
import { changeOf, recordOf } from '../testing.ts';
import { afterFailure } from './failure.ts';

const failure = new RetryableError('no answer');
const unanswered = new UnreachableError('no connection', 0, 'ConnectTimeout');
const down = new ClusterDownError('local', 'the seed local does not answer');
const decided = (error: unknown, attempt: number, isResync = false) => {
  const kept = { record: recordOf(changeOf()), change: { v: 1 as const, ...changeOf() }, attempt };
  return afterFailure(error, { kept, isResync }, LAST_ATTEMPT, 1);
};

describe('after a failed run', () => {
  it('a message stays hidden for ten seconds at most; longer waits free its group', () => {
    const waits = Array.from({ length: 9 }, (_, index) => decided(failure, index + 1));
    expect(waits.map((wait) => [wait.type, 'seconds' in wait && wait.seconds])).toEqual([
      ...[1, 2, 4, 8].map((seconds) => ['short', seconds]),
      ...[16, 32, 60, 60, 60].map((seconds) => ['long', seconds]),
    ]);
  });

  it('a change of a cluster that is down is never given up, and is looked at every four minutes', () => {
    expect(decided(down, LAST_ATTEMPT + 5)).toEqual({ type: 'long', seconds: 240, attempt: 11 });
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
    expect(decided(failure, 1, true)).toEqual({ type: 'short', seconds: 1 });
    expect(decided(failure, 2, true)).toEqual({ type: 'drop' });
    expect(decided(new TerminalError('never'), 1, true)).toEqual({ type: 'deadLetter' });
  });
});
