import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bench } from '../bench.ts';
import type { RunSummary } from '../landscape/run-counts.ts';
import type { OutageReport } from '../outage-process.ts';

const GIVE_UP_MS = 900_000;

/**
 * A seed of 300 Shoots swallows packets for an hour and then answers again. Meanwhile the project's configuration is
 * edited six times, gardenlet asks for reconciliations twice, and Shoots are created and force-deleted. Time is
 * fast, but for the last minute and the replay. Clusters and product share one process, and with it one core.
 */
export const outageBench = bench(
  'outage',
  {
    connections: {
      what: 'an hour of outage of a seed of 300 Shoots: connections to it meanwhile',
      unit: 'requests',
      atMost: 720,
    },
    healthy: { what: '… change of a healthy seed meanwhile, p99', unit: 's', atMost: 1 },
    replay: { what: '… its return until all its Shoots have the last edit', unit: 's', atMost: 20 },
    runs: { what: '… runs of a function for a Shoot in the replay, at most', unit: 'runs', atMost: 3 },
    memory: { what: '… memory afterwards, over that before', unit: 'MB', atMost: 32 },
  },
  async () => {
    const { connections, meanwhile, healthyMs, replaySeconds, cpuSeconds, replay, heapMb } = await reportOf(GIVE_UP_MS);
    const [before, after] = heapMb;
    return {
      connections: { value: connections, note: `and ${meanwhile.total} runs for its Shoots` },
      healthy: { value: healthyMs.p99 / 1000, note: `median ${healthyMs.median.toFixed(0)} ms` },
      replay: { value: replaySeconds, note: `${cpuSeconds.toFixed(1)} s of CPU; embedded API, in the same process` },
      runs: { value: replay.most, note: meanOf(replay) },
      memory: { value: after - before, note: `heap, with the embedded API: ${before.toFixed(0)} MB before` },
    };
  },
);

/** Starts the process, which shows its progress itself. */
async function reportOf(timeoutMs: number): Promise<OutageReport> {
  const child = fork(join(import.meta.dirname, '..', 'outage-process.ts'), { execArgv: ['--expose-gc'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process ended with exit code ${code} before it reported.`);
  });
  try {
    const message = once(child, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    const [report] = await Promise.race([message, ended]);
    return report as OutageReport;
  } finally {
    child.kill();
    ended.catch(() => {});
  }
}

function meanOf({ byFunction, shoots }: RunSummary): string {
  return `on average ${Object.entries(byFunction)
    .map(([name, count]) => `${name} ${(count / shoots).toFixed(1)}`)
    .join(', ')}`;
}
