import { handler } from '../../../functions/managed-resources/handler.ts';
import { handler as syncMode } from '../../../functions/sync-mode/handler.ts';
import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import { resources } from '../../../shared/kube/resource.ts';
import type { Cause } from '../../../shared/runtime/change-request.ts';
import { bench } from '../bench.ts';
import type { BenchClusters } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import {
  cluster,
  controlPlane,
  extension,
  fluxConfig,
  namespace,
  PROJECT_NAMESPACE,
  SEED,
} from '../landscape/objects.ts';
import type { SeenRequest } from '../landscape/requests.ts';
import { markApplied } from '../landscape/resource-manager.ts';
import { runFunction } from '../landscape/run-function.ts';

const write = { fieldManager: 'bench' };

/** Number of Secrets that the Shoot of the last line references. */
const SECRETS = 3;

/**
 * Runs only managed-resources, one run after the other, for a Shoot with a public repository; the resource-manager is
 * represented by its status on the ManagedResources. The result does not depend on time or chance.
 */
export const requestsBench = bench(
  'requests',
  {
    first: { what: 'API requests of managed-resources: first run', unit: 'requests', atMost: 19 },
    closing: { what: 'API requests of managed-resources: closing run', unit: 'requests', atMost: 6 },
    unchanged: {
      what: 'API requests of managed-resources: reconciliation that changes nothing',
      unit: 'requests',
      atMost: 10,
    },
    perSecret: { what: '… and for each referenced Secret', unit: 'requests', atMost: 1 },
  },
  async (progress) => {
    await using clusters = await startClusters({ shoot: true }, progress);
    const { client } = clusters.seed;
    await client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    const runs = new Map<string, ShootRequests>();
    for (const [number, mode] of ['Once', 'ManifestsOnly', 'Reconcile'].entries()) {
      await client.apply(resources.configMaps, fluxConfig(mode), write);
      const shoot = await runShoot(controlPlane(number), clusters);
      progress(`${mode}: ${shoot.first.length}, ${shoot.closing.length}, ${shoot.unchanged.length} requests`);
      runs.set(mode, shoot);
    }
    const withSecrets = await runShoot(controlPlane(9), clusters, SECRETS);
    const most = (which: keyof ShootRequests) => Math.max(...[...runs.values()].map((shoot) => shoot[which].length));
    const reconcile = runs.get('Reconcile')?.unchanged.length ?? Number.NaN;
    return {
      first: { value: most('first'), note: clusters.servedBy },
      closing: { value: most('closing') },
      unchanged: { value: most('unchanged'), note: 'maximum of the three sync modes' },
      perSecret: { value: (withSecrets.unchanged.length - reconcile) / SECRETS },
    };
  },
);

/** The requests of the three runs for one Shoot. */
interface ShootRequests {
  first: SeenRequest[];
  closing: SeenRequest[];
  unchanged: SeenRequest[];
}

async function runShoot(name: string, clusters: BenchClusters, secrets = 0): Promise<ShootRequests> {
  const { client } = clusters.seed;
  await client.create(resources.namespaces, namespace(name), write);
  const kubeconfig = Buffer.from(clusters.shoot?.kubeconfig ?? '').toString('base64');
  const access = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gardener', namespace: name } };
  await client.create(resources.secrets, { ...access, data: { kubeconfig } }, write);
  const references = Array.from({ length: secrets }, (_, number) => `reference-${number}`);
  for (const reference of references) {
    const metadata = { name: `ref-${reference}`, namespace: name };
    await client.create(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata }, write);
  }
  await client.create(resources.clusters, cluster(name, references), write);
  await client.create(resources.extensions, extension(name, providerConfig(references)), write);

  const run = async (...causes: Cause[]) =>
    (await runFunction('managed-resources', handler, name, clusters, causes)).requests;
  const first = await run();
  await markApplied(client, name);
  // Source and Kustomization follow what they need.
  await run(applied);
  await markApplied(client, name);
  const closing = await run(applied);
  await becomeReady(name, clusters);
  // The mode now releases its objects, and the resource-manager would follow.
  await run();
  await markApplied(client, name);
  await run();

  // Later than what was reported last, or the report would hold for this operation too.
  const timestamp = new Date(Date.now() + 2000).toISOString();
  const metadata = { annotations: { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: timestamp } };
  await client.mergePatch(resources.extensions, { namespace: name, name: 'shoot-flux' }, { metadata }, write);
  return { first, closing, unchanged: await run() };
}

/** The resource-manager has applied one. */
const applied: Cause = {
  ...{ type: 'object', cluster: SEED, kind: 'ManagedResource', name: 'shoot-flux-sync' },
  ...{ uid: 'any', resourceVersion: 'any' },
};

function providerConfig(references: readonly string[]): unknown {
  if (references.length === 0) return undefined;
  return {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    additionalSecretResources: references.map((reference) => ({ name: reference })),
  };
}

/** What readiness would find in the shoot, and sync-mode's record of it. */
async function becomeReady(name: string, clusters: BenchClusters): Promise<void> {
  const { client } = clusters.seed;
  const key = { namespace: name, name: 'shoot-flux' };
  const found = await client.find<Extension>(resources.extensions, key);
  const configHash = found?.status?.state?.applied?.configHash;
  const status = { providerStatus: { flux: { configHash, ready: true } } };
  await client.mergePatch(resources.extensions, key, { status }, { ...write, subresource: 'status' });
  await runFunction('sync-mode', syncMode, name, clusters);
  const after = await client.find<Extension>(resources.extensions, key);
  if (after?.status?.state?.bootstrapped === undefined)
    throw new Error(`The first success of ${name} was not recorded.`);
}
