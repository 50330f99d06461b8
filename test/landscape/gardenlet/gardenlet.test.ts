import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KubeClient, type KubeObject, resources } from '../client/client.ts';
import type { Cluster } from '../cluster.ts';
import { startInformer } from '../controllers/informer.ts';
import { eventually } from '../eventually.ts';
import type { Cluster as ClusterObject, Extension, ManagedResource, Shoot } from '../gardener/types.ts';
import { type Landscape, startLandscape } from '../landscape.ts';
import type { GardenShoot } from './control-plane.ts';

const fieldManager = 'test';
const technicalId = 'shoot--foo--bar';
const name = { namespace: 'garden-foo', name: 'bar' };
const extensionName = { namespace: technicalId, name: 'shoot-flux' };
const times = { pollMs: 20, severeMs: 100, reconcileMs: 1500, fixedMs: 1500 };

let landscape: Landscape;
let extensions: { seen: string[]; stop(): Promise<void> };

beforeEach(async () => {
  landscape = await startLandscape({ seeds: ['one', 'two'], gardenlet: { times } });
  await landscape.createProject('foo');
});
afterEach(async () => {
  await extensions?.stop();
  await landscape.stop();
});

const seed = (seedName: string) => {
  const found = landscape.seeds.get(seedName);
  if (found === undefined) throw new Error(`There is no seed ${seedName}.`);
  return found;
};
const gardenlet = (seedName = 'one') => seed(seedName).gardenlet;
const createShoot = (spec: Shoot['spec'] = {}) => landscape.createShoot(name.namespace, name.name, spec);
const changeShoot = (spec: object) =>
  landscape.garden.client.mergePatch(resources.shoots, name, { spec }, { fieldManager });
const shoot = () => landscape.garden.client.find<GardenShoot>(resources.shoots, name);
const cluster = () => seed('one').client.find<ClusterObject>(resources.clusters, { name: technicalId });
const extension = (seedName = 'one') => seed(seedName).client.find<Extension>(resources.extensions, extensionName);

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
    if (operation === 'wait-for-state' || (operation === undefined && !deleting)) return;
    // Its own writes trigger it again for the same operation.
    const run = `${object.metadata.annotations?.['gardener.cloud/timestamp']} ${operation}`;
    if (begun.has(run)) return;
    begun.add(run);
    const status = answer(object);
    if (status === undefined) return;
    const type = operation === 'migrate' ? 'Migrate' : deleting ? 'Delete' : 'Reconcile';
    seen.push(`${operation ?? 'delete'} ${JSON.stringify(object.spec.providerConfig ?? null)}`);
    await finish(client, object, type, status, operation);
  };
  const informer = startInformer<Extension>(
    client,
    resources.extensions,
    { signal: stopping.signal },
    {
      onChange: (object) => void handle(object).catch(() => {}),
    },
  );
  return {
    seen,
    async stop() {
      stopping.abort();
      await informer.stopped;
    },
  };
}

async function finish(client: KubeClient, { metadata }: Extension, type: string, status: object, operation?: string) {
  const patch = (body: object, subresource?: 'status') =>
    client.mergePatch(resources.extensions, metadata, body, { fieldManager, ...(subresource && { subresource }) });
  const lastUpdateTime = new Date().toISOString();
  const lastOperation = { type, state: 'Succeeded', progress: 100, description: 'done', lastUpdateTime };
  await patch({ status: { lastOperation, observedGeneration: metadata.generation, ...status } }, 'status');
  const finalizers = type === 'Delete' || type === 'Migrate' ? [] : ['extensions.gardener.cloud/shoot-flux'];
  const annotations = operation === undefined ? {} : { 'gardener.cloud/operation': null };
  await patch({ metadata: { finalizers, annotations } });
}

const put = ({ client }: { client: KubeClient }, object: KubeObject) => {
  const resource = Object.values(resources).find(({ kind }) => kind === object.kind);
  if (resource === undefined) throw new Error(`no ${object.kind}`);
  return client.apply(resource, object, { fieldManager });
};

describe('a new Shoot', () => {
  it('gets a namespace with labels, a Cluster, working Secrets, and its Extension', async () => {
    extensions = startExtensions(seed('one'));
    await createShoot({ extensions: [{ type: 'shoot-flux', providerConfig: { a: 1 } }] });
    await gardenlet().reconcile(name);

    const { client } = seed('one');
    expect((await client.find(resources.namespaces, { name: technicalId }))?.metadata.labels).toMatchObject({
      'gardener.cloud/role': 'shoot',
      'extensions.gardener.cloud/shoot-flux': 'true',
    });
    for (const secret of ['gardener', 'gardener-internal']) {
      expect(await client.find(resources.secrets, { namespace: technicalId, name: secret })).toHaveProperty(
        'data.kubeconfig',
      );
    }
    expect((await cluster())?.spec.shoot).toMatchObject({
      metadata: name,
      status: { technicalID: technicalId, lastOperation: { type: 'Create', state: 'Succeeded' } },
    });
    expect(extensions.seen).toEqual(['reconcile {"a":1}']);
  });

  it('follows the providerConfig of its Shoot, also where keys are removed', async () => {
    extensions = startExtensions(seed('one'));
    for (const providerConfig of [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, undefined]) {
      const extension = { type: 'shoot-flux', ...(providerConfig && { providerConfig }) };
      if ((await shoot()) === undefined) await createShoot({ extensions: [extension] });
      else await changeShoot({ extensions: [extension] });
      await gardenlet().reconcile(name);
    }
    expect(extensions.seen).toEqual(['reconcile {"a":{"b":1,"c":2}}', 'reconcile {"a":{"b":1}}', 'reconcile null']);
  });

  it('gets copies of the objects it refers to', async () => {
    extensions = startExtensions(seed('one'));
    const metadata = { name: 'git', namespace: name.namespace, labels: { own: 'label' } };
    await put(landscape.garden, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'example.org/x',
      stringData: { a: 'b' },
    });
    const resourceRef = { apiVersion: 'v1', kind: 'Secret', name: 'git' };
    await createShoot({ extensions: [{ type: 'shoot-flux' }], resources: [{ name: 'credentials', resourceRef }] });
    await gardenlet().reconcile(name);
    const copy = await seed('one').client.find(resources.secrets, { namespace: technicalId, name: 'ref-git' });
    expect(copy).toMatchObject({ type: 'example.org/x', data: { a: 'Yg==' } });
    expect(copy?.metadata.labels).not.toHaveProperty('own');
  });

  it('fails when the Extension does not report in time, and succeeds on retry', async () => {
    extensions = startExtensions(seed('one'), () => undefined);
    await createShoot();
    await expect(gardenlet().reconcile(name)).rejects.toThrow(/not ready after 1.5 s: .*/);
    expect((await shoot())?.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Error' });
    await extensions.stop();
    extensions = startExtensions(seed('one'));
    await gardenlet().reconcile(name);
    expect((await shoot())?.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded' });
  });

  it.each([
    ['ERR_RETRYABLE_CONFIGURATION_PROBLEM', 'Error'],
    ['ERR_CONFIGURATION_PROBLEM', 'Failed'],
  ])('with code %s is in state %s', async (code, state) => {
    extensions = startExtensions(seed('one'), () => ({ lastError: { description: 'a typo', codes: [code] } }));
    await createShoot();
    await expect(gardenlet().reconcile(name)).rejects.toThrow('a typo');
    expect((await shoot())?.status).toMatchObject({ lastOperation: { state } });
    expect((await cluster())?.spec.shoot.status?.lastOperation?.state).toBe(state);
  });
});

describe('an existing Shoot', () => {
  beforeEach(async () => {
    extensions = startExtensions(seed('one'));
    await createShoot();
    await gardenlet().reconcile(name);
  });

  it('hibernates after its extensions, and wakes up before them', async () => {
    await changeShoot({ hibernation: { enabled: true } });
    await gardenlet().reconcile(name);
    expect((await cluster())?.spec.shoot.status?.hibernated).toBe(true);
    await expect(landscape.shoot(technicalId)?.client.list(resources.namespaces)).rejects.toThrow();
    await changeShoot({ hibernation: { enabled: false } });
    await gardenlet().reconcile(name);
    expect((await cluster())?.spec.shoot.status?.hibernated).toBe(false);
    await landscape.shoot(technicalId)?.client.list(resources.namespaces);
    expect(extensions.seen).toHaveLength(3);
  });

  it('loses the Extension when its spec no longer names it', async () => {
    await changeShoot({ extensions: [{ type: 'shoot-flux', disabled: true }] });
    await gardenlet().reconcile(name);
    expect(await extension()).toBeUndefined();
    expect(extensions.seen.at(-1)).toMatch(/^delete/);
  });

  it('is deleted in order: CRDs, the Extension, and only without ManagedResources of the nil class', async () => {
    const metadata = { name: 'left', namespace: technicalId };
    const spec = { secretRefs: [{ name: 'none' }] };
    await put(seed('one'), {
      apiVersion: 'resources.gardener.cloud/v1alpha1',
      kind: 'ManagedResource',
      metadata,
      spec,
    });
    await expect(gardenlet().delete(name)).rejects.toThrow(/ManagedResources are left after .*: left/);
    expect((await cluster())?.spec.shoot.metadata.deletionTimestamp).toBeDefined();
    await seed('one').client.delete(resources.managedResources, metadata);
    await gardenlet().delete(name);
    expect(await shoot()).toBeUndefined();
    expect(await cluster()).toBeUndefined();
    expect(landscape.shoot(technicalId)).toBeUndefined();
  });

  it('is deleted by force although ManagedResources are stuck', async () => {
    const metadata = { name: 'left', namespace: technicalId, finalizers: ['example.org/stuck'] };
    const spec = { secretRefs: [{ name: 'none' }] };
    await put(seed('one'), {
      apiVersion: 'resources.gardener.cloud/v1alpha1',
      kind: 'ManagedResource',
      metadata,
      spec,
    });
    await gardenlet().delete(name, { force: true });
    const { items } = await seed('one').client.list<ManagedResource>(resources.managedResources);
    expect(items).toEqual([]);
  });

  it('moves to another seed with its state and the objects its state refers to', async () => {
    const { client } = seed('one');
    const resourceRef = { apiVersion: 'v1', kind: 'Secret', name: 'mine' };
    await put(seed('one'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'mine', namespace: technicalId },
      stringData: { a: 'b' },
    });
    const status = { state: { bootstrapped: { at: 'then' } }, resources: [{ name: 'mine', resourceRef }] };
    await client.mergePatch(resources.extensions, extensionName, { status }, { fieldManager, subresource: 'status' });

    const state = await gardenlet('one').migrate(name);
    expect(await extension('one')).toBeUndefined();
    await extensions.stop();
    extensions = startExtensions(seed('two'));
    await gardenlet('two').restore(name, state);

    expect(extensions.seen).toEqual(['restore null']);
    expect((await extension('two'))?.status?.state).toEqual({ bootstrapped: { at: 'then' } });
    const secret = { namespace: technicalId, name: 'mine' };
    await eventually('the Secret', () => seed('two').client.find(resources.secrets, secret));
    expect((await shoot())?.spec?.seedName).toBe('two');
  });
});
