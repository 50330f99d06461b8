import { eventually } from '@shoot-flux/landscape/eventually';
import { startCommand } from '../command-process.ts';
import type { Sample } from './flatness.ts';

export type SoakedProduct = Awaited<ReturnType<typeof startSoakedProduct>>;

/** Log lines that show a bug of the product rather than a bad day of its surroundings. */
const alarming = /TypeError|RangeError|ReferenceError|SyntaxError|unhandled|unreadable message|functions restart/;
/** More are only counted by their absence from this list. */
const MOST_ALARMS = 50;

/** Starts the product, the command `run` in a process of its own, and waits until it is ready. */
export async function startSoakedProduct(args: string[], onLog: (line: string) => void) {
  const alarms: string[] = [];
  const { page, end } = startCommand(['run', '--log-level=info', ...args], {
    onLine(line) {
      if (alarming.test(line) && alarms.length < MOST_ALARMS) alarms.push(line);
      onLog(line);
    },
  });
  const isOk = async (path: string) => (await page(path).catch(() => undefined))?.status === 200;
  const metrics = async () => (await page('/metrics')).text;
  await eventually('the product is ready', () => isOk('/readyz'));
  return {
    /** Reads the process's own metrics. @throws when it no longer answers */
    sample: async (at: number) => sampleOf(at, await metrics()),
    /** Returns the lines of its log that it should never write. */
    alarms: () => alarms,
    /** Returns the number of runs by their results. */
    runs: async () => runsOf(await metrics()),
    isAlive: () => isOk('/healthz'),
    stop: () => end(),
  };
}

/** Returns the sum of all values of a metric. */
function total(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

function sampleOf(at: number, metrics: string): Sample {
  return {
    at,
    residentMb: total(metrics, 'process_resident_memory_bytes') / 1e6,
    heapMb: total(metrics, 'nodejs_heap_size_used_bytes') / 1e6,
    handles: total(metrics, 'nodejs_active_resources_total'),
    waiting: total(metrics.replace(/^.*state="(?:delayed|running)".*$/gm, ''), 'shoot_flux_queue_keys'),
  };
}

function runsOf(metrics: string): Record<string, number> {
  const runs: Record<string, number> = {};
  for (const [, result = '', count] of metrics.matchAll(/^shoot_flux_reconcile_total\{.*result="(\w+)".*\} (\S+)$/gm)) {
    runs[result] = (runs[result] ?? 0) + Number(count);
  }
  return runs;
}
