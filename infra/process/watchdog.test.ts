import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keptMetrics } from '../../events/testing.ts';
import { enter, leave } from '../../shared/runtime/activity.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startWatchdog } from './watchdog.ts';

const block = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

async function watched(code: () => void) {
  const lines: Record<string, unknown>[] = [];
  const { metrics, sums } = keptMetrics();
  const watchdog = startWatchdog({ log: createLog('warn', (line) => lines.push(JSON.parse(line))), metrics });
  await sleep(60);
  lines.length = 0;
  code();
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
