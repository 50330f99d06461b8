import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bench, type Measured, type Progress } from '../bench.ts';
import type { LooksReport, ShootKind } from '../looks-process.ts';

/**
 * How often all functions together look at a Shoot when nothing changes. Each kind of Shoot has a process of its own, in
 * which the clock is fast while nothing is to be done: a day passes in minutes.
 */
export const looksBench = bench(
  'looks',
  {
    followed: { what: 'looks per hour at a Shoot that is followed and Ready', unit: 'runs', atMost: 7 },
    released: { what: 'looks per hour at a Shoot that is released', unit: 'runs', atMost: 2 },
    failing: { what: 'looks per hour at a Shoot that has been failing for a day', unit: 'runs', atMost: 6 },
  },
  async (progress) => {
    const kinds: ShootKind[] = ['not applied', 'not ready', 'not reachable'];
    // Together, because each waits most of the time.
    const [followed, released, ...failing] = await Promise.all([
      looksAt('followed', progress),
      looksAt('released', progress),
      ...kinds.map(async (kind) => ({ kind, ...(await looksAt(kind, progress)) })),
    ]);
    const [worst] = failing.sort((one, other) => other.value - one.value);
    if (worst === undefined) throw new Error('No kind of failure was measured.');
    return {
      followed,
      released,
      failing: { value: worst.value, note: `${worst.kind}: ${worst.note}` },
    };
  },
);

async function looksAt(kind: ShootKind, progress: Progress): Promise<Measured & { note: string }> {
  const child = fork(join(import.meta.dirname, '..', 'looks-process.ts'), [kind], { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process for ${kind} Shoots ended with exit code ${code} before it reported.`);
  });
  try {
    const [report] = await Promise.race([once(child, 'message'), ended]);
    const { perHour } = report as LooksReport;
    const parts = Object.entries(perHour).map(([name, count]) => `${name} ${count.toFixed(1)}`);
    const value = Object.values(perHour).reduce((sum, count) => sum + count, 0);
    progress(`${kind}: ${value.toFixed(1)} (${parts.join(', ')})`);
    return { value: Math.round(value * 10) / 10, note: parts.join(', ') };
  } finally {
    child.kill();
    ended.catch(() => {});
  }
}
