import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Resource, resources } from '../../../shared/kube/resource.ts';
import { bench, type Progress } from '../bench.ts';
import type { BenchClusters } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import { controlPlane, namespace } from '../landscape/objects.ts';
import { reconciledShoots } from '../landscape/reconciled.ts';
import { measureWatch } from '../landscape/watch-process.ts';
import { inParallel, median } from '../numbers.ts';
import type { WatcherReport } from '../watcher-process.ts';

const EXTENSIONS = 10_000;
const RUNS = 3;

/**
 * One seed with many Shoots, and a process with only the watcher. Its queue accepts every change immediately, so that
 * no queue competes for the two cores.
 */
export const watcherBench = bench(
  'watcher',
  {
    memory: { what: 'watcher with 10,000 Extensions: memory', unit: 'MB', atMost: 150 },
    sync: { what: 'watcher with 10,000 Extensions: first sync', unit: 's', atMost: 10 },
    memoryOfAll: { what: '… with their 40,000 ManagedResources: memory', unit: 'MB', atMost: 200 },
    syncOfAll: { what: '… with their 40,000 ManagedResources: first sync', unit: 's', atMost: 45 },
    watch: { what: '`watch` with them and queues in SQS: memory, idle', unit: 'MB', atMost: 170 },
  },
  async (progress) => {
    await using clusters = await startClusters({ statusInOneWrite: true, anyNamespace: true }, progress);
    const reconciled = await reconciledShoots();
    const namespaces = Array.from({ length: EXTENSIONS }, (_, number) => controlPlane(number));

    if (clusters.needsNamespaces) await create(clusters, resources.namespaces, namespaces.map(namespace), progress);
    await create(clusters, resources.extensions, namespaces.map(reconciled.extension), progress);
    const few = await watchers(clusters, EXTENSIONS, progress);
    const managedResources = namespaces.flatMap(reconciled.managedResources);
    await create(clusters, resources.managedResources, managedResources, progress);
    const all = await watchers(clusters, EXTENSIONS + managedResources.length, progress);
    const watch = await measureWatch(clusters.seed.kubeconfigFile, EXTENSIONS);
    if (watch.objects !== EXTENSIONS + managedResources.length) {
      throw new Error(`\`watch\` saw ${watch.objects} objects.`);
    }
    return {
      memory: { value: few.peakMb, note: `peak, later ${few.laterMb.toFixed(0)} MB; median of ${RUNS}` },
      sync: { value: few.firstSyncSeconds, note: clusters.servedBy },
      memoryOfAll: { value: all.peakMb, note: `peak, later ${all.laterMb.toFixed(0)} MB; median of ${RUNS}` },
      syncOfAll: { value: all.firstSyncSeconds, note: clusters.servedBy },
      watch: {
        value: watch.idleMb,
        note: `peak ${watch.peakMb.toFixed(0)} MB; all changes sent after ${watch.sentSeconds.toFixed(0)} s`,
      },
    };
  },
);

async function create(
  { seed }: BenchClusters,
  resource: Resource,
  objects: Parameters<typeof seed.client.create>[1][],
  progress: Progress,
): Promise<void> {
  const started = performance.now();
  await inParallel(objects, 24, (object) => seed.client.create(resource, object, { fieldManager: 'bench' }));
  const seconds = (performance.now() - started) / 1000;
  progress(`${objects.length} ${resource.plural} created in ${seconds.toFixed(0)} s`);
}

/** Returns the medians of several processes. */
async function watchers(clusters: BenchClusters, objects: number, progress: Progress): Promise<WatcherReport> {
  const reports: WatcherReport[] = [];
  for (let run = 0; run < RUNS; run++) {
    const report = await watcherProcess(clusters.seed.kubeconfigFile);
    if (report.objects !== objects) throw new Error(`The watcher saw ${report.objects} objects instead of ${objects}.`);
    progress(`${objects} objects in ${report.firstSyncSeconds.toFixed(1)} s, ${report.peakMb.toFixed(0)} MB`);
    reports.push(report);
  }
  const of = (field: keyof WatcherReport) => median(reports.map((report) => report[field]));
  return {
    firstSyncSeconds: of('firstSyncSeconds'),
    objects,
    changes: of('changes'),
    peakMb: of('peakMb'),
    laterMb: of('laterMb'),
  };
}

async function watcherProcess(kubeconfigFile: string): Promise<WatcherReport> {
  const child = fork(join(import.meta.dirname, '..', 'watcher-process.ts'), [kubeconfigFile], { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The watcher's process ended with exit code ${code} before it reported.`);
  });
  try {
    const [report] = await Promise.race([once(child, 'message'), ended]);
    return report as WatcherReport;
  } finally {
    child.kill();
    ended.catch(() => {});
  }
}
