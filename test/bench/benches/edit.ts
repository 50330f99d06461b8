import { setTimeout as sleep } from 'node:timers/promises';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { bench } from '../bench.ts';
import { startClusters } from '../landscape/clusters.ts';
import { copyShoots, modelShoot } from '../landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE, SEED } from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { createShoots } from '../landscape/shoots.ts';
import { stampApplied } from '../landscape/stamp.ts';
import { cpuAtRest, untilIdle } from './first-list.ts';

const write = { fieldManager: 'bench' };
const SHOOTS = 5000;
/** A followed Shoot is looked at every 12 minutes. After the first half of them, the looks of all are spread evenly. */
const UNTIL_LOOKS_SECONDS = 360;
const AT_REST_SECONDS = 240;
const GIVE_UP_MS = 900_000;

/**
 * A project of 5,000 Shoots that follow its configuration. Their owner edits it once; API server, etcd, garden and
 * the resource-managers' part share the two cores with the product.
 */
export const editBench = bench(
  'edit',
  {
    heard: {
      what: 'one flux-config edit until all 5,000 Shoots of the project are notified, each once',
      unit: 's',
      atMost: 10,
    },
    run: { what: '… until all 5,000 had their run', unit: 's', atMost: 240 },
    cpu: { what: 'CPU at rest, 10,000 Shoots, followed and Ready', unit: '%', atMost: 20 },
  },
  async (progress) => {
    await using clusters = await startClusters({ shoot: true, anyNamespace: true, onlyReal: true }, progress);
    const { seed } = clusters;
    await seed.client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    await seed.client.create(resources.configMaps, fluxConfig('ManifestsOnly'), write);
    const model = await modelShoot(clusters, progress);
    const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
    await copyShoots(seed, model, names, progress);
    await createShoots(
      seed.client,
      names.map((name) => ({ seed: SEED, namespace: name })),
      progress,
    );
    const stopping = new AbortController();
    const stamps = stampApplied(seed.client, stopping.signal);
    const forwarded = countForwarded();
    await using product = await startProductProcess(seed.kubeconfigFile, { onLog: forwarded.onLog });
    await untilIdle(product, progress);
    await sleep(UNTIL_LOOKS_SECONDS * 1000);
    const cpu = await cpuAtRest(product, AT_REST_SECONDS);
    progress(`at rest: ${cpu.toFixed(1)} % of a core with ${SHOOTS} Shoots`);

    forwarded.reset();
    const changed = watchChanges(seed.client, names);
    const started = performance.now();
    const edit = { data: { repositoryBranch: 'edited' } };
    await seed.client.mergePatch(
      resources.configMaps,
      { namespace: PROJECT_NAMESPACE, name: 'flux-config' },
      edit,
      write,
    );
    const heard = await forwarded.until(SHOOTS);
    progress(`${forwarded.total()} changes forwarded`);
    const ran = await changed;
    const repeated = forwarded.total() - SHOOTS;
    stopping.abort();
    await stamps;
    return {
      heard: { value: (heard - started) / 1000, note: repeated === 0 ? 'each once' : `${repeated} more than once` },
      run: { value: (ran - started) / 1000, note: clusters.servedBy },
      cpu: { value: cpu * 2, note: `twice that of ${SHOOTS} over ${AT_REST_SECONDS} s` },
    };
  },
);

/** Counts the changes that `fan-out` reports in its log. */
function countForwarded() {
  let total = 0;
  let listener = () => {};
  return {
    onLog(line: string) {
      const [, changes] = /"message":"changes forwarded".*"changes":(\d+)/.exec(line) ?? [];
      if (changes === undefined) return;
      total += Number(changes);
      listener();
    },
    total: () => total,
    reset: () => {
      total = 0;
    },
    /** Resolves with the clock's time at which so many were forwarded. */
    until: (count: number) =>
      new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`Only ${total} changes were forwarded.`)), GIVE_UP_MS);
        listener = () => {
          if (total < count) return;
          clearTimeout(timer);
          resolve(performance.now());
        };
        listener();
      }),
  };
}

/** Resolves with the clock's time at which the sync of every control plane has another generation. */
async function watchChanges(seed: KubeClient, namespaces: readonly string[]): Promise<number> {
  const waiting = new Set(namespaces);
  const { resourceVersion } = await seed.list(resources.managedResources, { limit: 1 });
  const fieldSelector = `metadata.name=${managedResourceNames.sync}`;
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  const options = { resourceVersion, fieldSelector, metadataOnly: true, timeoutSeconds: 3600, signal };
  for await (const { type, object } of seed.watch(resources.managedResources, options)) {
    if (type !== 'BOOKMARK') waiting.delete(object.metadata.namespace ?? '');
    if (waiting.size === 0) return performance.now();
  }
  throw new Error(`${waiting.size} Shoots did not get the edit.`);
}
