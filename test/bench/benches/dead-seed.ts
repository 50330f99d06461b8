import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { startTcpProxy, type TcpProxy } from '../../tcp-proxy.ts';
import { bench } from '../bench.ts';
import type { BenchCluster } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import { requestReconciliations } from '../landscape/gardenlet.ts';
import { copyShoots, modelShoot } from '../landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE, SEED } from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { createShoots } from '../landscape/shoots.ts';
import { stampApplied } from '../landscape/stamp.ts';
import { percentile } from '../numbers.ts';

const write = { fieldManager: 'bench' };
const OTHER_SEED = 'dead';
const HEALTHY = 20;
const DEAD = 5000;
const REQUESTS = 150;
const EVERY_MS = 400;
/** After the edit of the project's configuration everybody's work is due at once. */
const EDIT_AFTER_MS = 10_000;
const GIVE_UP_MS = 300_000;

/**
 * Two seeds of one project. One of them stops answering: connections stay open and swallow everything, as behind a
 * dropped route. Meanwhile gardenlet asks for reconciliations in the other, and the project's configuration is edited,
 * which concerns every Shoot in both.
 */
export const deadSeedBench = bench(
  'dead seed',
  {
    requests: {
      what: 'change of a healthy seed while another seed of 5,000 Shoots swallows packets, p99',
      unit: 's',
      atMost: 1,
    },
    edit: { what: '… an edit of flux-config until the 20 Shoots of the healthy seed have it', unit: 's' },
  },
  async (progress) => {
    const options = { shoot: true, otherSeed: true, anyNamespace: true, onlyReal: true };
    await using clusters = await startClusters(options, progress);
    const { seed, otherSeed } = clusters;
    if (otherSeed === undefined) throw new Error('There is no second seed.');
    await seed.client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    await seed.client.create(resources.configMaps, fluxConfig('Reconcile'), write);
    const model = await modelShoot(clusters, progress);
    const healthy = Array.from({ length: HEALTHY }, (_, number) => controlPlane(1 + number));
    const dead = Array.from({ length: DEAD }, (_, number) => controlPlane(1000 + number));
    await copyShoots(seed, model, healthy, progress);
    const few = { objects: model.objects.filter(({ object }) => ['Cluster', 'Extension'].includes(object.kind)) };
    await copyShoots(otherSeed, few, dead, progress);
    const all = [...healthy.map((name) => [SEED, name]), ...dead.map((name) => [OTHER_SEED, name])];
    await createShoots(
      seed.client,
      all.map(([seedName = '', name = '']) => ({ seed: seedName, namespace: name })),
      progress,
    );
    await using proxy = await startTcpProxy(otherSeed.connection.server);
    await using file = await kubeconfigThrough(proxy, otherSeed);
    const stopping = new AbortController();
    const stamps = stampApplied(seed.client, stopping.signal);
    await using _product = await startProductProcess(seed.kubeconfigFile, { otherSeeds: { [OTHER_SEED]: file.path } });
    proxy.behave('swallow');
    progress('the other seed swallows packets');

    const edited = editAfter(EDIT_AFTER_MS, seed.client, healthy);
    const answers = await requestReconciliations(seed.client, healthy, { everyMs: EVERY_MS, count: REQUESTS });
    for (const [number, ms] of [...answers.entries()].sort(([, a], [, b]) => b - a).slice(0, 5))
      progress(`one of the slowest: ${ms.toFixed(0)} ms, asked for after ${((number * EVERY_MS) / 1000).toFixed(1)} s`);
    const edit = await edited;
    stopping.abort();
    await stamps;
    return {
      requests: {
        value: percentile(answers, 99) / 1000,
        note: `median ${percentile(answers, 50).toFixed(0)} ms; ${clusters.servedBy}`,
      },
      edit: { value: edit / 1000 },
    };
  },
);

/** Edits the configuration and returns after how many milliseconds the last Shoot has other objects for its sync. */
async function editAfter(ms: number, client: KubeClient, namespaces: readonly string[]): Promise<number> {
  await sleep(ms);
  const generationOf = async (name: string) => {
    const key = { namespace: name, name: managedResourceNames.sync };
    return (await client.find(resources.managedResources, key))?.metadata.generation ?? 0;
  };
  const before = await Promise.all(namespaces.map(generationOf));
  const edited = { data: { repositoryBranch: 'edited' } };
  await client.mergePatch(resources.configMaps, { namespace: PROJECT_NAMESPACE, name: 'flux-config' }, edited, write);
  const started = performance.now();
  while (performance.now() - started < GIVE_UP_MS) {
    const now = await Promise.all(namespaces.map(generationOf));
    if (now.every((generation, index) => generation > (before[index] ?? 0))) break;
    await sleep(100);
  }
  return performance.now() - started;
}

async function kubeconfigThrough({ url }: TcpProxy, { kubeconfig, connection }: BenchCluster) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-path-'));
  const file = join(folder, 'kubeconfig.yaml');
  await writeFile(file, kubeconfig.replaceAll(connection.server, url), { mode: 0o600 });
  return { path: file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
