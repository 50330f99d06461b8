import { currentActivity } from '../../shared/runtime/activity.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

/** Twenty wake-ups a second, each some microseconds. */
const EVERY_MS = 50;

/** Code that needs longer delays everything else of its thread, and is a defect. */
const BLOCKED_MS = 200;

/** Code outside functions, watcher and webhooks; also a pause of the whole process. */
const OTHER = 'other';

export interface WatchdogDependencies {
  log: Log;
  metrics: Metrics;
}

/**
 * Reports each block of this thread's event loop, with the function and the key whose code was executing. A timer
 * measures its own lateness, so a block is reported once it is over and may look up to 50 ms longer than it was.
 */
export function startWatchdog({ log, metrics }: WatchdogDependencies): { stop(): void } {
  let lastMs = performance.now();
  let lastCpu = process.threadCpuUsage();
  metrics.count('event_loop_blocked_total', { function: OTHER }, 0);
  const timer = setInterval(() => {
    const ms = performance.now() - lastMs;
    const cpu = process.threadCpuUsage(lastCpu);
    if (ms >= BLOCKED_MS) report(ms, (cpu.user + cpu.system) / 1000);
    lastMs = performance.now();
    lastCpu = process.threadCpuUsage();
  }, EVERY_MS).unref();
  const report = (ms: number, cpuMs: number) => {
    const activity = currentActivity();
    const labels = { function: activity?.function ?? OTHER };
    // Little CPU time means that the code waited for the disk, or the machine gave this process no time.
    log.warn('event loop blocked', { ...labels, key: activity?.key, ms: Math.round(ms), cpuMs: Math.round(cpuMs) });
    metrics.count('event_loop_blocked_total', labels);
    metrics.observe('event_loop_blocked_seconds', ms / 1000, labels);
  };
  return { stop: () => clearInterval(timer) };
}
