import { type Activity, longestStretch } from '../../shared/runtime/activity.ts';
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
 * measures its own lateness, so a block is reported once it is over and may look up to 50 ms longer than it was. `ownMs`
 * is the part of the function that is named: much less than `ms` means that many took their turn. Little `cpuMs` means
 * that the code waited for the disk, or that the machine gave this process no time.
 */
export function startWatchdog({ log, metrics }: WatchdogDependencies): { stop(): void } {
  let last = { ms: performance.now(), cpuMs: cpuMsOfThread() };
  longestStretch();
  metrics.count('event_loop_blocked_total', { function: OTHER }, 0);
  const timer = setInterval(() => {
    const now = { ms: performance.now(), cpuMs: cpuMsOfThread() };
    const { activity, ms: ownMs } = longestStretch();
    const ms = now.ms - last.ms;
    if (ms >= BLOCKED_MS) report(activity, { ms, ownMs, cpuMs: now.cpuMs - last.cpuMs });
    last = now;
  }, EVERY_MS).unref();
  const report = (activity: Activity | undefined, times: Record<'ms' | 'ownMs' | 'cpuMs', number>) => {
    const labels = { function: activity?.function ?? OTHER };
    const rounded = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms)]));
    log.warn('event loop blocked', { ...labels, key: activity?.key, ...rounded });
    metrics.count('event_loop_blocked_total', labels);
    metrics.observe('event_loop_blocked_seconds', times.ms / 1000, labels);
  };
  return { stop: () => clearInterval(timer) };
}

function cpuMsOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
