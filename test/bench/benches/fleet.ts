import { setTimeout as sleep } from 'node:timers/promises';
import { READY_CHECK_SECONDS } from '../../../functions/readiness/next-check.ts';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { startTcpProxy } from '../../tcp-proxy.ts';
import { bench, type Progress } from '../bench.ts';
import { startClusters, temporaryFile } from '../landscape/clusters.ts';
import { copyShoots, createShoots, fillSeed } from '../landscape/model-shoot.ts';
import { controlPlane, PROJECT_NAMESPACE, SEED } from '../landscape/objects.ts';
import { askForReconciliation, startProductProcess } from '../landscape/product-process.ts';
import { stampApplied } from '../landscape/stamp.ts';
import { percentile } from '../numbers.ts';
import { cpuAtRest, untilIdle } from './at-rest.ts';

const write = { fieldManager: 'bench' };
const OTHER_SEED = 'dead';
const HEALTHY = 20;
const DEAD = 5000;
const REQUESTS = 150;
const EVERY_MS = 400;
/** After the edit of the project's configuration everybody's work is due at once. */
const EDIT_AFTER_MS = 10_000;
const GIVE_UP_MS = 900_000;
const SHOOTS = 5000;
/** After half of the interval at which followed Shoots are checked, the checks of all Shoots are spread evenly. */
const UNTIL_CHECKS_SECONDS = READY_CHECK_SECONDS / 2;
const AT_REST_SECONDS = 240;

/** Thousands of Shoots: a seed that is gone delays no other one, and an edit reaches all. */
export const fleetBench = bench(
  'fleet',
  {
    requests: {
      what: 'change of a healthy seed while another seed of 5,000 Shoots swallows packets, p99',
      unit: 's',
      atMost: 1,
    },
    heard: {
      what: 'one flux-config edit until all 5,000 Shoots of the project are notified, each once',
      unit: 's',
      atMost: 10,
    },
    run: { what: '… until all 5,000 had their run', unit: 's', atMost: 240 },
    cpu: { what: 'CPU at rest, 10,000 Shoots, followed and Ready', unit: '%', atMost: 20 },
  },
  async (progress) => ({ ...(await besideDeadSeed(progress)), ...(await untilAllHaveTheEdit(progress)) }),
);

/**
 * Two seeds of one project. One of them stops answering: connections stay open and swallow everything, as behind a
 * dropped route. Meanwhile gardenlet asks for reconciliations in the other, and the project's configuration is edited,
 * which concerns every Shoot in both.
 */
async function besideDeadSeed(progress: Progress) {
  await using clusters = await startClusters({ shoot: true, otherSeed: true, anyNamespace: true });
  const { seed, otherSeed } = clusters;
  if (otherSeed === undefined) throw new Error('There is no second seed.');
  const healthy = Array.from({ length: HEALTHY }, (_, number) => controlPlane(1 + number));
  const dead = Array.from({ length: DEAD }, (_, number) => controlPlane(1000 + number));
  const model = await fillSeed(clusters, 'Reconcile', healthy, progress);
  const few = { objects: model.objects.filter(({ object }) => ['Cluster', 'Extension'].includes(object.kind)) };
  await copyShoots(otherSeed, few, dead, progress);
  const all = [...healthy.map((name) => [SEED, name]), ...dead.map((name) => [OTHER_SEED, name])];
  await createShoots(
    seed,
    all.map(([seedName = '', name = '']) => ({ seed: seedName, namespace: name })),
    progress,
  );
  await using proxy = await startTcpProxy(otherSeed.connection.server);
  const kubeconfig = otherSeed.kubeconfig.replaceAll(otherSeed.connection.server, proxy.url);
  await using file = await temporaryFile('other-seed.yaml', kubeconfig);
  const stopping = new AbortController();
  const stamps = stampApplied(seed.connection, stopping.signal);
  await using _product = await startProductProcess(seed.kubeconfigFile, { otherSeeds: { [OTHER_SEED]: file.path } });
  proxy.behave('swallow');
  progress('the other seed swallows packets');

  const edited = sleep(EDIT_AFTER_MS).then(() => editConfiguration(seed.client));
  const answers = await requestReconciliations(seed.client, healthy);
  for (const [number, ms] of [...answers.entries()].sort(([, a], [, b]) => b - a).slice(0, 5))
    progress(`one of the slowest: ${ms.toFixed(0)} ms, asked for after ${((number * EVERY_MS) / 1000).toFixed(1)} s`);
  await edited;
  stopping.abort();
  await stamps;
  return {
    requests: { value: percentile(answers, 99) / 1000, note: `median ${percentile(answers, 50).toFixed(0)} ms` },
  };
}

/** Edits the configuration of all Shoots of the project. */
async function editConfiguration(client: KubeClient): Promise<void> {
  const name = { namespace: PROJECT_NAMESPACE, name: 'flux-config' };
  await client.mergePatch(resources.configMaps, name, { data: { repositoryBranch: 'edited' } }, write);
}

const hasSucceeded = ({ status }: Extension) => status?.lastOperation?.state === 'Succeeded';

/**
 * Asks for reconciliations as gardenlet does, one Shoot after the other whether or not the earlier ones were answered,
 * and returns for each the milliseconds until the product reports Succeeded.
 */
async function requestReconciliations(client: KubeClient, namespaces: readonly string[]): Promise<number[]> {
  const answers: Promise<number>[] = [];
  for (let number = 0; number < REQUESTS; number++) {
    const namespace = namespaces[number % namespaces.length];
    if (namespace !== undefined) answers.push(askForReconciliation(client, namespace, hasSucceeded));
    await sleep(EVERY_MS);
  }
  return Promise.all(answers);
}

/**
 * A project of 5,000 Shoots that follow its configuration. Their owner edits it once; API server, etcd, garden and
 * the resource-managers' part share the two cores with the product.
 */
async function untilAllHaveTheEdit(progress: Progress) {
  await using clusters = await startClusters({ shoot: true, anyNamespace: true });
  const { seed } = clusters;
  const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
  await fillSeed(clusters, 'ManifestsOnly', names, progress);
  await createShoots(
    seed,
    names.map((name) => ({ seed: SEED, namespace: name })),
    progress,
  );
  const stopping = new AbortController();
  const stamps = stampApplied(seed.connection, stopping.signal);
  const forwarded = countForwarded();
  await using product = await startProductProcess(seed.kubeconfigFile, { onLog: forwarded.onLog });
  await untilIdle(product, progress);
  await sleep(UNTIL_CHECKS_SECONDS * 1000);
  const cpu = await cpuAtRest(product, AT_REST_SECONDS);
  progress(`at rest: ${cpu.toFixed(1)} % of a core with ${SHOOTS} Shoots`);

  forwarded.reset();
  const changed = watchChanges(seed.client, names);
  const started = performance.now();
  await editConfiguration(seed.client);
  const heard = await forwarded.until(SHOOTS);
  progress(`${forwarded.total()} changes forwarded`);
  const ran = await changed;
  const repeated = forwarded.total() - SHOOTS;
  stopping.abort();
  await stamps;
  return {
    heard: { value: (heard - started) / 1000, note: repeated === 0 ? 'each once' : `${repeated} more than once` },
    run: { value: (ran - started) / 1000 },
    cpu: { value: cpu * 2, note: `twice that of ${SHOOTS} over ${AT_REST_SECONDS} s` },
  };
}

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
