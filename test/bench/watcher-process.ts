import { setTimeout as sleep } from 'node:timers/promises';
import { useCompileCache } from '../../infra/compile-cache.ts';

// As `shoot-flux run` does: with types to strip, every process begins with 40 MB more.
useCompileCache();
const { createWatcher } = await import('../../events/watcher/watcher.ts');
const { findDefinitions } = await import('../../infra/functions.ts');
const { createClusters, kubeconfigFiles } = await import('../../shared/runtime/clusters.ts');
const { createLog } = await import('../../shared/runtime/log.ts');
const { noMetrics } = await import('../../shared/runtime/metrics.ts');
const { SEED } = await import('./landscape/objects.ts');

/** The one message of the watcher's process to its parent. */
export interface WatcherReport {
  /** From the start of the watcher until every object was seen and its changes were handed over. */
  firstSyncSeconds: number;
  objects: number;
  changes: number;
  /** Resident memory in MB: the most there ever was, and what is left of it ten seconds later. */
  peakMb: number;
  laterMb: number;
}

const LATER_MS = 10_000;

/** A process that holds nothing but the watcher of one seed; the queue takes whatever it is given. */
async function main([kubeconfig = '']: string[]): Promise<void> {
  let changes = 0;
  const watcher = createWatcher({
    definitions: await findDefinitions(),
    clusters: { garden: false, seeds: [SEED] },
    kube: createClusters(kubeconfigFiles({ [SEED]: kubeconfig }), { userAgent: 'shoot-flux/watcher' }),
    send: async ({ length }) => {
      changes += length;
    },
    log: createLog('warn'),
    metrics: noMetrics,
  });
  const started = performance.now();
  watcher.start();
  while (!watcher.ready()) await sleep(10);
  const firstSyncSeconds = (performance.now() - started) / 1000;
  await sleep(LATER_MS);
  const report: WatcherReport = {
    firstSyncSeconds,
    objects: watcher.status().selections.reduce((sum, { objects }) => sum + objects, 0),
    changes,
    peakMb: (process.resourceUsage().maxRSS * 1024) / 1e6,
    laterMb: process.memoryUsage.rss() / 1e6,
  };
  process.send?.(report);
  await watcher.stop();
  process.disconnect();
}

if (import.meta.main) await main(process.argv.slice(2));
