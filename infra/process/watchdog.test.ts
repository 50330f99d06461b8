import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runnerOf, runOnce } from '../../events/run/runner.ts';
import { changeOf, functionOf, keptMetrics, keyOf, processDependencies } from '../../events/testing.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { currentActivity, enter, leave } from '../../shared/runtime/activity.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { startWatchdog } from './watchdog.ts';

const block = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

async function watched(code: () => unknown) {
  const lines: Record<string, unknown>[] = [];
  const { metrics, sums } = keptMetrics();
  const watchdog = startWatchdog({ log: createLog('warn', (line) => lines.push(JSON.parse(line))), metrics });
  await sleep(60);
  lines.length = 0;
  await code();
  await sleep(120);
  watchdog.stop();
  return { lines, sums };
}

it('names the function and the key whose code blocked the event loop', async () => {
  const run = { function: 'readiness', key: 'local/shoot--foo--bar/shoot-flux' };
  const { lines, sums } = await watched(() => {
    enter({ function: 'keys', key: 'garden/garden-foo/flux-config' });
    enter(run);
    block(300);
  });
  leave(run);
  expect(lines).toEqual([
    expect.objectContaining({
      message: 'event loop blocked',
      ...run,
      ms: expect.any(Number),
      cpuMs: expect.any(Number),
    }),
  ]);
  expect(Number(lines[0]?.ms)).toBeGreaterThanOrEqual(299);
  expect(sums.get('event_loop_blocked_total{function=readiness}')).toBe(1);
  expect(sums.get('event_loop_blocked_seconds{function=readiness}')).toBe(1);
});

it('reports a block outside all functions as other', async () => {
  const ended = { function: 'keys', key: 'garden/garden-foo/flux-config' };
  enter(ended);
  leave(ended);
  const { lines } = await watched(() => block(300));
  expect(lines).toEqual([expect.objectContaining({ function: 'other' })]);
});

it('names the run whose code continued after a call, among others that run at the same time', async () => {
  const handler: Handler = async ({ namespace }, { kube }) => {
    const seed = await kube('local');
    await seed.find(resources.extensions, { namespace, name: 'shoot-flux' });
    if (namespace === keyOf(7).namespace) block(300);
    await seed.find(resources.extensions, { namespace, name: 'shoot-flux' });
    return done;
  };
  // Answers in turn, as API servers do.
  let call = 0;
  const find = async () => void (await sleep(10 + (call++ % 10)));
  const kube = async () => ({ find }) as unknown as KubeClient;
  const runner = runnerOf(functionOf(handler, 'readiness'), { ...processDependencies({ kube }), send: async () => {} });
  const runs = Array.from({ length: 20 }, (_, n) => {
    const change = changeOf({ function: 'readiness', key: keyOf(n) });
    return { changes: [change] as const, attempt: 1, dueAt: 0, superseded: 0 };
  });
  const signal = new AbortController().signal;
  const { lines } = await watched(() => Promise.all(runs.map((run) => runOnce(runner, run, signal))));
  expect(lines).toEqual([expect.objectContaining({ function: 'readiness', key: keyText(keyOf(7)) })]);
  expect(currentActivity()).toBeUndefined();
});
