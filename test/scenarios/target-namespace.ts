import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { tools } from './foreign.ts';
import { asleep, creating, eventually, inControlPlane, publicRepository } from './stage.ts';

const fieldManager = 'person';
const sync = inControlPlane('shoot-flux-sync');
const main = 'main-ks';
const all = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];
const kubeconfig = inControlPlane('gardener');
/** What a record of a former version lacks. */
const unknown = { targetNamespace: null, keepsNamespace: null };

/** A `targetNamespace` that nobody has written, on embedded or real API servers. */
export const targetNamespaceSuite = stageSuite((stage) => {
  const edit = (data: Record<string, string> = {}) => stage.setFluxConfig({ ...publicRepository, ...data });
  const namespaceInShoot = async () => (await stage.specInShoot(kustomizations, main))?.targetNamespace;

  /** A Shoot as a former version has left it; the product is down. */
  const former = async (data: Record<string, string> = {}) => {
    await edit({ kustomizationTargetNamespace: 'default', ...data });
    await stage.deliver();
    await stage.bootstrap();
    await stage.quiet();
    await stage.stopProduct();
    await edit(data);
    await stage.patchStatus({ state: { applied: unknown } });
  };
  const loseRecord = () => stage.patchStatus({ state: { applied: null, bootstrapped: null } });
  const loseManagedResources = async () => {
    for (const name of Object.keys(await stage.managedResources())) {
      const patch = { spec: { keepObjects: true } };
      await stage.seed.mergePatch(resources.managedResources, inControlPlane(name), patch, { fieldManager });
      await stage.seed.delete(resources.managedResources, inControlPlane(name));
    }
    await stage.untilManagedResources();
  };
  const deleteManagedResource = async () => {
    await stage.seed.delete(resources.managedResources, sync);
    await eventually('it is gone', stage.managedResources, (live) => live['shoot-flux-sync'] === undefined);
  };
  /** Every value that the Kustomization gets from now on. */
  const watched = async () => {
    const { resourceVersion } = await stage.shoot.list(kustomizations);
    const seen = new Set<unknown>();
    const options = { resourceVersion, timeoutSeconds: 600, signal: AbortSignal.timeout(600_000) };
    void (async () => {
      for await (const { type, object } of stage.shoot.watch(kustomizations, options)) {
        if (type === 'DELETED') seen.add('deleted');
        else seen.add((object.spec as { targetNamespace?: string }).targetNamespace);
      }
    })().catch(() => undefined);
    return seen;
  };

  it('is not set in a new Shoot, and the key sets and removes it', async () => {
    await edit();
    await stage.deliver({ status: { lastOperation: creating } });
    expect(await namespaceInShoot()).toBeUndefined();
    await stage.bootstrap();
    for (const [key, expected] of [
      ['apps', 'apps'],
      ['none', undefined],
    ] as const) {
      await edit({ kustomizationTargetNamespace: key });
      await eventually(key, namespaceInShoot, (value) => value === expected);
    }
  });

  it('is kept in a Shoot of a former version, whose condition says what to set, until the key says none', async () => {
    await former();
    await stage.startProduct();
    await stage.deliver();
    expect(await namespaceInShoot()).toBe('default');
    const said = 'set kustomizationTargetNamespace in ConfigMap flux-config to default to keep it for good';
    expect(await stage.untilCondition('KustomizationReady', said)).toMatchObject({ status: 'True' });
    await edit({ kustomizationTargetNamespace: 'default' });
    await stage.until('it is chosen', ({ state }) => state?.applied?.keepsNamespace === undefined);
    await edit({ kustomizationTargetNamespace: 'none' });
    await eventually('it is gone', namespaceInShoot, (value) => value === undefined);
    await edit();
    await stage.deliver();
    expect(await namespaceInShoot()).toBeUndefined();
  });

  it.each<[string, () => Promise<unknown>, Record<string, string>?]>([
    [
      'its repository is edited',
      () => edit({ repositoryUrl: 'https://git.example.com/other', repositoryPath: './b', repositoryBranch: 'b' }),
    ],
    ['the record is lost', loseRecord],
    ['record and ManagedResources are lost', async () => [await loseRecord(), await loseManagedResources()]],
    ['its ManagedResources are deleted, and the objects stay', loseManagedResources],
  ])('is kept when %s, without a gap', async (_, happens) => {
    await former();
    const seen = await watched();
    await happens();
    await stage.startProduct();
    await stage.deliver();
    await stage.quiet();
    expect(await namespaceInShoot()).toBe('default');
    expect([...seen].filter((value) => value !== 'default')).toEqual([]);
  });

  it('is kept when its ManagedResource is deleted with its objects', async () => {
    await former();
    await deleteManagedResource();
    expect(await namespaceInShoot()).toBeUndefined();
    await stage.startProduct();
    await stage.deliver();
    expect(await namespaceInShoot()).toBe('default');
  });

  it('is kept by a Shoot that is hibernated and wakes up', async () => {
    await former();
    await stage.startProduct();
    await stage.deliver(asleep);
    await stage.deliver();
    expect(await namespaceInShoot()).toBe('default');
  });

  it('is kept by a Shoot that moves to another seed', async () => {
    await former();
    const seen = await watched();
    await stage.startProduct();
    const record = await stage.moveAway();
    await stage.createWaiting();
    await stage.restore(record);
    await stage.untilReady();
    await stage.quiet();
    expect(await namespaceInShoot()).toBe('default');
    expect([...seen].filter((value) => value !== 'default')).toEqual([]);
  });

  it('is kept when the extension leaves with Orphan and comes back', async () => {
    await former({ deletionPolicy: 'Orphan' });
    const seen = await watched();
    await stage.startProduct();
    await stage.deliver();
    await stage.leave();
    await stage.deliver();
    await stage.quiet();
    expect(await namespaceInShoot()).toBe('default');
    expect([...seen].filter((value) => value !== 'default')).toEqual([]);
  });

  it.each(Object.entries(tools))('is kept when a Flux of %s is taken over that runs it', async (_, { marks }) => {
    await former();
    const seen = await watched();
    await loseRecord();
    await loseManagedResources();
    const crd = { name: 'gitrepositories.source.toolkit.fluxcd.io' };
    await stage.shoot.mergePatch(resources.customResourceDefinitions, crd, { metadata: marks }, { fieldManager });
    await edit({ adopt: 'true', syncMode: 'Reconcile' });
    await stage.startProduct();
    await stage.deliver();
    await stage.untilManagedResources(...all);
    expect(await namespaceInShoot()).toBe('default');
    expect([...seen].filter((value) => value !== 'default')).toEqual([]);
  });

  it('follows what users have made of it in a Shoot that was released', async () => {
    await former({ syncMode: 'Once' });
    await stage.startProduct();
    await stage.deliver();
    await stage.untilManagedResources('shoot-flux-secrets');
    const patch = { spec: { targetNamespace: null } };
    await stage.shoot.mergePatch(kustomizations, { namespace: 'flux-system', name: main }, patch, { fieldManager });
    await edit({ syncMode: 'ManifestsOnly', repositoryBranch: 'b' });
    await stage.untilBranch('b');
    await stage.untilReady();
    expect(await namespaceInShoot()).toBeUndefined();
  });

  it('waits where nothing says how the Shoot runs', async () => {
    await former();
    await loseRecord();
    await loseManagedResources();
    const secret = await stage.seed.find(resources.secrets, kubeconfig);
    await stage.seed.delete(resources.secrets, kubeconfig);
    await stage.startProduct();
    await stage.reconcileShoot();
    await stage.untilDescribed('which the Shoot would keep');
    expect(await stage.managedResources()).toEqual({});
    const { metadata: _, ...content } = secret ?? {};
    await stage.seed.apply(resources.secrets, { ...content, metadata: kubeconfig } as never, { fieldManager });
    await stage.untilReady();
    expect(await namespaceInShoot()).toBe('default');
  });
});
