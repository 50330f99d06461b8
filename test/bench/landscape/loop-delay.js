import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Idle timers are that late. The metric of the process itself is coarser. */
const RESOLUTION_MS = 10;

// Preloaded by the process that is measured. JavaScript: what strips types would take memory there.
const file = process.env.BENCH_LOOP_DELAY;
if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, String(delays.max / 1e6 - RESOLUTION_MS));
    renameSync(`${file}.new`, file);
    delays.reset();
  });
}
