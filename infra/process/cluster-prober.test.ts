import { expect, test } from 'vitest';
import { UnreachableError } from '../../shared/kube/errors.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { startProber } from './cluster-prober.ts';

const never = new AbortController().signal;
const reset = new UnreachableError('no answer', 0, 'ECONNRESET');

/** A prober whose probes end as `isAnswered` says, by their number, each a quarter of the first pause after the other. */
function proberOf(isAnswered: (probe: number) => boolean) {
  const state = { probes: 0 };
  const health = createClusterHealth({ now: () => state.probes * 5 });
  const heard: string[] = [];
  health.onChange((_, isUp) => heard.push(`${isUp ? 'up' : 'down'} after ${state.probes} probes`));
  const prober = startProber({
    ...{ health, clusters: ['local'], log: createLog('error', () => {}), metrics: noMetrics, pauseMs: [20, 20] },
    kube: async () => ({
      async probe() {
        state.probes++;
        if (!isAnswered(state.probes)) throw reset;
      },
    }),
  });
  const guard = health.guard('local');
  return { health, heard, state, begin: () => guard.begin('GET x'), [Symbol.asyncDispose]: () => prober.stop() };
}

test('a cluster of which one of three API servers answers is not taken for down', async () => {
  await using one = proberOf((probe) => probe % 3 === 0);
  for (let asked = 3; asked <= 15; asked += 3) {
    one.begin().failed(reset);
    await expect.poll(() => one.state.probes).toBe(asked);
  }
  expect(one.heard).toEqual([]);
});

test('a cluster that resets every connection counts as down once it was asked for a while, and is up at its first answer', async () => {
  await using one = proberOf((probe) => probe === 20);
  one.begin().failed(reset);
  await expect.poll(() => one.heard).toEqual(['down after 6 probes', 'up after 20 probes']);
});

test('a call that is answered while a cluster is asked again and again outweighs the refusals', async () => {
  let answer = () => {};
  await using one = proberOf((probe) => {
    if (probe === 2) answer();
    return false;
  });
  const call = one.begin();
  answer = call.answered;
  one.begin().failed(reset);
  await expect.poll(() => one.state.probes).toBe(6);
  await sleep(20, never);
  expect(one.heard).toEqual([]);
});
