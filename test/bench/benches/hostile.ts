import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, type KubeClient } from '@shoot-flux/landscape/client';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { startTlsServer } from '../../../shared/kube/testing.ts';
import { bench } from '../bench.ts';
import { startEmbeddedClusters } from '../landscape/embedded-clusters.ts';
import { type HostileInput, hostileInputs } from '../landscape/hostile-inputs.ts';
import { cluster, extension, namespace } from '../landscape/objects.ts';
import { residentMb } from '../landscape/process-usage.ts';
import { type ProductProcess, startProductProcess } from '../landscape/product-process.ts';

const write = { fieldManager: 'bench' };
/** The product has read the input by then, and has tried what it tries several times. */
const SECONDS = 4;
const MOST_MS = 50;
/** Finer than the metric of the product. */
const LOOP_DELAY = join(import.meta.dirname, '../landscape/loop-delay.js');
/** The loop is also late when another program has the processor, so of an input over the limit the least delay counts. */
const ATTEMPTS = 3;

/**
 * Writes one hostile input after the other, each in a project of its own, while the product runs; asks the product after
 * each for the longest block of its event loop, and watches its memory.
 */
export const hostileBench = bench(
  'hostile',
  {
    block: {
      what: 'longest block of the event loop by any input that the API servers accept',
      unit: 'ms',
      atMost: MOST_MS,
    },
    memory: { what: 'memory of `run` with any hostile input, over idle', unit: 'MB', atMost: 64 },
  },
  async (progress) => {
    await using clusters = await startEmbeddedClusters({}, [...gardenCrds(), ...seedCrds()]);
    const delay = join(tmpdir(), `bench-loop-delay-${process.pid}`);
    await using product = await startMeasured(clusters.seed.kubeconfigFile, delay);
    // Another client than the product's, whose limits would refuse what it is given here.
    const client = createKubeClient(clusters.seed.connection, { userAgent: 'bench' });
    // Loads every function and a release once, which is no input's doing.
    await tryOut(client, { name: 'none' }, 'warm-up');
    await sleep(SECONDS * 1000);
    await longestBlockMs(product, delay);
    const idle = residentMb(product.pid);
    let block = { ms: 0, name: '' };
    let memory = { mb: 0, name: '' };
    const effectOf = async (input: HostileInput, project: string) => {
      await using _shoot = await tryOut(client, input, project);
      const mb = (await peakMb(product)) - idle;
      const ms = await longestBlockMs(product, delay);
      progress(`${input.name}: ${ms.toFixed(0)} ms, ${mb >= 0 ? '+' : ''}${mb.toFixed(0)} MB`);
      return { mb, ms };
    };
    for (const [index, input] of hostileInputs.entries()) {
      let { mb, ms } = await effectOf(input, `h${index}`);
      for (let attempt = 2; ms > MOST_MS && attempt <= ATTEMPTS; attempt++) {
        const again = await effectOf(input, `h${index}-${attempt}`);
        ms = Math.min(ms, again.ms);
        mb = Math.max(mb, again.mb);
      }
      if (ms > block.ms) block = { ms, name: input.name };
      if (mb > memory.mb) memory = { mb, name: input.name };
    }
    return {
      block: { value: block.ms, note: `${block.name}; of ${hostileInputs.length} inputs` },
      memory: { value: memory.mb, note: `${memory.name}; idle ${idle.toFixed(0)} MB` },
    };
  },
);

/** Writes an input with a Shoot of its project. */
async function tryOut(client: KubeClient, input: HostileInput, project: string): Promise<AsyncDisposable> {
  const garden = `garden-${project}`;
  const controlPlane = `shoot--${project}--s`;
  const server = input.shoot === undefined ? undefined : await startTlsServer(input.shoot);
  const create = (resource: Resource, object: KubeObject) => client.create(resource, object, write);
  for (const name of [garden, controlPlane]) await create(resources.namespaces, namespace(name));
  const repository = { repositoryUrl: 'https://example.org/fleet', repositoryBranch: 'main', syncMode: 'Reconcile' };
  await create(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'flux-config', namespace: garden },
    data: { ...repository, ...ownTexts(input.fluxConfig ?? {}, project) },
  });
  if (input.fluxSource !== undefined) await create(resources.secrets, secret(garden, 'flux-source', input.fluxSource));
  if (server !== undefined)
    await create(resources.secrets, secret(controlPlane, 'gardener', { kubeconfig: kubeconfigOf(server.connection) }));
  for (const [name, data] of Object.entries(input.secrets ?? {}))
    await create(resources.secrets, secret(controlPlane, name, data));
  const owner = cluster(
    controlPlane,
    Object.keys(input.secrets ?? {}).map((name) => name.replace('ref-', '')),
  );
  owner.spec.shoot.metadata = { name: 's', namespace: garden };
  await create(resources.clusters, owner);
  await create(resources.extensions, extension(controlPlane, ownConfig(input.providerConfig, project)));
  if (input.message !== undefined) await failAll(client, controlPlane, input.message);
  return server ?? { [Symbol.asyncDispose]: async () => {} };
}

/** No two projects write equal texts, which the product would parse once. */
function ownTexts(texts: Record<string, string>, project: string): Record<string, string> {
  const own = ([key, text]: [string, string]) => [key, key.endsWith('.yaml') ? `${text}\n# ${project}` : text];
  return Object.fromEntries(Object.entries(texts).map(own));
}

/** Nor equal options of an installation, which the product would render once. */
function ownConfig(config: unknown, project: string): unknown {
  const { flux } = (config ?? {}) as { flux?: object };
  return flux === undefined ? config : { ...(config as object), flux: { namespace: `flux-${project}`, ...flux } };
}

/** Reports for every ManagedResource that it cannot be applied. */
async function failAll(client: KubeClient, name: string, message: string): Promise<void> {
  await sleep(1000);
  const { items } = await client.list(resources.managedResources, { namespace: name });
  for (const { metadata } of items) {
    const time = new Date().toISOString();
    const condition = { type: 'ResourcesApplied', status: 'False', reason: 'ApplyFailed', message };
    const conditions = [{ ...condition, lastTransitionTime: time, lastUpdateTime: time }];
    const status = { observedGeneration: metadata.generation, conditions };
    await client.mergePatch(resources.managedResources, metadata, { status }, { ...write, subresource: 'status' });
  }
}

function secret(namespace: string, name: string, data: Record<string, string>): KubeObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: Object.fromEntries(encoded) };
}

function kubeconfigOf({ server, ca = '' }: { server: string; ca?: string | undefined }): string {
  const authority = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'shoot',
    contexts: [{ name: 'shoot', context: { cluster: 'shoot', user: 'shoot' } }],
    clusters: [{ name: 'shoot', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'shoot', user: { token: 'bench' } }],
  });
}

async function peakMb({ pid }: ProductProcess): Promise<number> {
  const until = performance.now() + SECONDS * 1000;
  let peak = 0;
  while (performance.now() < until) {
    peak = Math.max(peak, residentMb(pid));
    await sleep(50);
  }
  return peak;
}

/** Starts the product with a module that measures its event loop, and whose file says how long it was blocked. */
async function startMeasured(kubeconfigFile: string, file: string): Promise<ProductProcess> {
  process.env.BENCH_LOOP_DELAY = file;
  try {
    return await startProductProcess(kubeconfigFile, { preload: LOOP_DELAY });
  } finally {
    delete process.env.BENCH_LOOP_DELAY;
  }
}

/** Returns the longest delay of the product's event loop since the last call. */
async function longestBlockMs({ pid }: ProductProcess, file: string): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(5);
  const ms = Number(await readFile(file, 'utf8'));
  await rm(file);
  return ms;
}
