import { setTimeout as sleep } from 'node:timers/promises';
import { useCompileCache } from '../../infra/compile-cache.ts';

// Bundled like `shoot-flux run`: stripping types takes 40 MB more in every process.
useCompileCache();
const { createWatcher } = await import('../../events/watcher/watcher.ts');
const { findDefinitions } = await import('../../infra/functions.ts');
const { createClusters, kubeconfigFiles } = await import('../../shared/runtime/clusters.ts');
const { createLog } = await import('../../shared/runtime/log.ts');
const { noMetrics } = await import('../../shared/runtime/metrics.ts');
const { SEED } = await import('./landscape/objects.ts');

/** The one message of the watcher's process to its parent. */
export interface WatcherReport {
  /** Time from the start of the watcher until every object was seen and its changes were handed over. */
  firstSyncSeconds: number;
  objects: number;
  changes: number;
  /** Resident memory in MB: the peak, and ten seconds later. */
  peakMb: number;
  laterMb: number;
}

const LATER_MS = 10_000;

/** A process with only the watcher of one seed; its queue accepts every change. */
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
