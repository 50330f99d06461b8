import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KubeClient, type KubeObject, resources } from '../client/client.ts';
import type { Cluster } from '../cluster.ts';
import { startInformer } from '../controllers/informer.ts';
import type { Cluster as ClusterObject, Extension, Shoot } from '../gardener/types.ts';
import { type Landscape, startLandscape } from '../landscape.ts';
import type { GardenShoot } from './control-plane.ts';

/** What gardenlet does with an extension that fails or is slow; landscape.test.ts has the good days. */

const fieldManager = 'test';
const technicalId = 'shoot--foo--bar';
const name = { namespace: 'garden-foo', name: 'bar' };
const times = { pollMs: 20, severeMs: 100, reconcileMs: 1500, fixedMs: 1500 };

let landscape: Landscape;
let extensions: { seen: string[]; stop(): Promise<void> } | undefined;

beforeEach(async () => {
  landscape = await startLandscape({ gardenlet: { times } });
  await landscape.createProject('foo');
});
afterEach(async () => {
  await extensions?.stop();
  await landscape.stop();
});

const createShoot = (spec: Shoot['spec'] = {}) => landscape.createShoot(name.namespace, name.name, spec);
const shoot = () => landscape.garden.client.find<GardenShoot>(resources.shoots, name);
const cluster = () => landscape.seed.client.find<ClusterObject>(resources.clusters, { name: technicalId });
const reconcile = () => landscape.seed.gardenlet.reconcile(name);

/** A minimal extension: by default every operation succeeds at once. */
function startExtensions(
  { client }: Cluster,
  answer: (extension: Extension) => Partial<Extension['status']> | undefined = () => ({}),
) {
  const seen: string[] = [];
  const begun = new Set<string>();
  const stopping = new AbortController();
  const handle = async (object: Extension) => {
    const operation = object.metadata.annotations?.['gardener.cloud/operation'];
    const deleting = object.metadata.deletionTimestamp !== undefined;
    if (operation === undefined && !deleting) return;
    // Its own writes trigger it again for the same operation.
    const run = `${object.metadata.annotations?.['gardener.cloud/timestamp']} ${operation}`;
    if (begun.has(run)) return;
    begun.add(run);
    const status = answer(object);
    if (status === undefined) return;
    seen.push(JSON.stringify(object.spec.providerConfig ?? null));
    await finish(client, object, status, deleting);
  };
  const informer = startInformer<Extension>(
    client,
    resources.extensions,
    { signal: stopping.signal },
    { onChange: (object) => void handle(object).catch(() => {}) },
  );
  return {
    seen,
    async stop() {
      stopping.abort();
      await informer.stopped;
    },
  };
}

async function finish(client: KubeClient, { metadata }: Extension, status: object, deleting: boolean) {
  const lastUpdateTime = new Date().toISOString();
  const type = deleting ? 'Delete' : 'Reconcile';
  const lastOperation = { type, state: 'Succeeded', progress: 100, description: 'done', lastUpdateTime };
  const patch = { status: { lastOperation, observedGeneration: metadata.generation, ...status } };
  await client.mergePatch(resources.extensions, metadata, patch, { fieldManager, subresource: 'status' });
  const finalizers = deleting ? [] : ['extensions.gardener.cloud/shoot-flux'];
  const annotations = { 'gardener.cloud/operation': null };
  await client.mergePatch(resources.extensions, metadata, { metadata: { finalizers, annotations } }, { fieldManager });
}

it('follows the providerConfig of its Shoot, also where keys are removed', async () => {
  extensions = startExtensions(landscape.seed);
  for (const providerConfig of [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, undefined]) {
    const spec = { extensions: [{ type: 'shoot-flux', ...(providerConfig && { providerConfig }) }] };
    if ((await shoot()) === undefined) await createShoot(spec);
    else await landscape.garden.client.mergePatch(resources.shoots, name, { spec }, { fieldManager });
    await reconcile();
  }
  expect(extensions.seen).toEqual(['{"a":{"b":1,"c":2}}', '{"a":{"b":1}}', 'null']);
});

it('gets copies of the objects it refers to', async () => {
  extensions = startExtensions(landscape.seed);
  const metadata = { name: 'git', namespace: name.namespace, labels: { own: 'label' } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'example.org/x', stringData: { a: 'b' } };
  await landscape.garden.client.create<KubeObject>(resources.secrets, secret, { fieldManager });
  const resourceRef = { apiVersion: 'v1', kind: 'Secret', name: 'git' };
  await createShoot({ extensions: [{ type: 'shoot-flux' }], resources: [{ name: 'credentials', resourceRef }] });
  await reconcile();
  const copy = await landscape.seed.client.find(resources.secrets, { namespace: technicalId, name: 'ref-git' });
  expect(copy).toMatchObject({ type: 'example.org/x', data: { a: 'Yg==' } });
  expect(copy?.metadata.labels).not.toHaveProperty('own');
});

it('fails when the Extension does not report in time, and succeeds on retry', async () => {
  extensions = startExtensions(landscape.seed, () => undefined);
  await createShoot();
  await expect(reconcile()).rejects.toThrow(/not ready after 1.5 s: .*/);
  expect((await shoot())?.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Error' });
  await extensions.stop();
  extensions = startExtensions(landscape.seed);
  await reconcile();
  expect((await shoot())?.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded' });
});

it.each([
  ['ERR_RETRYABLE_CONFIGURATION_PROBLEM', 'Error'],
  ['ERR_CONFIGURATION_PROBLEM', 'Failed'],
])('with code %s a Shoot is in state %s', async (code, state) => {
  extensions = startExtensions(landscape.seed, () => ({ lastError: { description: 'a typo', codes: [code] } }));
  await createShoot();
  await expect(reconcile()).rejects.toThrow('a typo');
  expect((await shoot())?.status).toMatchObject({ lastOperation: { state } });
  expect((await cluster())?.spec.shoot.status?.lastOperation?.state).toBe(state);
});

it('is deleted only without ManagedResources of the nil class, or by force', async () => {
  extensions = startExtensions(landscape.seed);
  await createShoot();
  await reconcile();
  const left: KubeObject = {
    apiVersion: 'resources.gardener.cloud/v1alpha1',
    kind: 'ManagedResource',
    metadata: { name: 'left', namespace: technicalId, finalizers: ['example.org/stuck'] },
    spec: { secretRefs: [{ name: 'none' }] },
  };
  await landscape.seed.client.create(resources.managedResources, left, { fieldManager });
  await expect(landscape.seed.gardenlet.delete(name)).rejects.toThrow(/ManagedResources are left after .*: left/);
  expect((await cluster())?.spec.shoot.metadata.deletionTimestamp).toBeDefined();
  await landscape.seed.gardenlet.delete(name, { force: true });
  expect((await landscape.seed.client.list(resources.managedResources)).items).toEqual([]);
  expect(await shoot()).toBeUndefined();
  expect(await cluster()).toBeUndefined();
  expect(landscape.shoot(technicalId)).toBeUndefined();
});
