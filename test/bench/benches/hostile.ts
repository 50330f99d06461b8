import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, type KubeClient } from '@shoot-flux/landscape/client';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { startTlsServer } from '../../../shared/kube/testing.ts';
import type { CommandProcess } from '../../command-process.ts';
import { kubeconfigOf, secretWith } from '../../shoot-secrets.ts';
import { bench } from '../bench.ts';
import { startEmbeddedSeed } from '../landscape/clusters.ts';
import { type HostileInput, hostileInputs } from '../landscape/hostile-inputs.ts';
import { cluster, extension, namespace } from '../landscape/objects.ts';
import { askForReconciliation, residentMb, startProductProcess } from '../landscape/product-process.ts';

const write = { fieldManager: 'bench' };
/** The product has read the input by then, and has tried what it tries several times. */
const SECONDS = 4;

/**
 * Writes one hostile input after the other, each in a project of its own, while the product runs. Another Shoot asks for
 * one operation after the other meanwhile: the longest that it waits is what others notice of the input.
 */
export const hostileBench = bench(
  'hostile',
  {
    wait: { what: 'another Shoot waits for an operation, beside any input', unit: 'ms', atMost: 2500 },
    memory: { what: 'memory of `run` with any hostile input, over idle', unit: 'MB', atMost: 128 },
  },
  async (progress) => {
    await using seed = await startEmbeddedSeed();
    await using product = await startProductProcess(seed.kubeconfigFile);
    // Another client than the product's, whose limits would refuse what it is given here.
    const client = createKubeClient(seed.connection, { userAgent: 'bench' });
    // Loads every function and a release once, which is no input's doing.
    await using _others = await tryOut(client, { name: 'none' }, 'others');
    await sleep(SECONDS * 1000);
    const idle = residentMb(product.pid);
    let wait = { ms: 0, name: '' };
    let memory = { mb: 0, name: '' };
    for (const [index, input] of hostileInputs.entries()) {
      await using _shoot = await tryOut(client, input, `h${index}`);
      const { ms, peak } = await watchOthers(client, product);
      const mb = peak - idle;
      progress(`${input.name}: others wait ${ms.toFixed(0)} ms, ${mb >= 0 ? '+' : ''}${mb.toFixed(0)} MB`);
      if (ms > wait.ms) wait = { ms, name: input.name };
      if (mb > memory.mb) memory = { mb, name: input.name };
    }
    return {
      wait: { value: wait.ms, note: `${wait.name}; of ${hostileInputs.length} inputs` },
      memory: { value: memory.mb, note: `${memory.name}; idle ${idle.toFixed(0)} MB` },
    };
  },
);

/** Asks for operations of the other Shoot. Returns the longest wait for one, and the most memory meanwhile, in MB. */
async function watchOthers(client: KubeClient, { pid }: CommandProcess): Promise<{ ms: number; peak: number }> {
  const until = performance.now() + SECONDS * 1000;
  let [ms, peak] = [0, 0];
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid));
  }, 20);
  while (performance.now() < until) ms = Math.max(ms, await askForReconciliation(client, 'shoot--others--s'));
  clearInterval(timer);
  return { ms, peak };
}

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
  if (input.fluxSource !== undefined)
    await create(resources.secrets, secretWith(garden, 'flux-source', input.fluxSource));
  if (server !== undefined)
    await create(
      resources.secrets,
      secretWith(controlPlane, 'gardener', { kubeconfig: kubeconfigOf(server.connection) }),
    );
  for (const [name, data] of Object.entries(input.secrets ?? {}))
    await create(resources.secrets, secretWith(controlPlane, name, data));
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
