import semver from 'semver';
import { expect, it } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { compareVersions } from '../../shared/flux/versions.ts';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { eventually, inFlux, type Stage } from '../scenarios/stage.ts';
import { onRealApis, rightsSuffice } from './on-real-apis.ts';
import { refusing } from './refusing.ts';
import { watchDeletions } from './upgrades/deletions.ts';
import { crdsOf, everything, fill, notCurrent } from './upgrades/stored-objects.ts';

const resource =
  (group: string, plural: string, kind: string) =>
  (version: string): Resource => ({
    ...{ group: `${group}.toolkit.fluxcd.io`, version, plural, kind, namespaced: true },
  });
const ociRepository = resource('source', 'ocirepositories', 'OCIRepository');
const imageRepository = resource('image', 'imagerepositories', 'ImageRepository');
const fieldManager = 'person';
const core = ['source', 'kustomize', 'helm', 'notification', 'image-reflector', 'image-automation'];

/** The components with kinds of their own. */
function componentsOf(version: string): string {
  const all = core.map((name) => `${name}-controller`);
  return [...all, ...((semver.parse(version)?.minor ?? 0) >= 7 ? ['source-watcher'] : [])].join(',');
}

/** On real API servers, because they refuse CRDs that lack a stored version. */
onRealApis('upgrades of the product between real Flux releases', (ground) => {
  const { startApis, fluxDistribution, apis } = ground;
  let stage: Stage;
  aroundEachTest(startApis, fluxDistribution, (next) => {
    stage = next;
  });

  const ask = async (fluxVersion: string, components?: string) => {
    await stage.setFluxConfig({
      ...{ repositoryUrl: 'https://git.example.com/a', repositoryType: 'public', repositoryBranch: 'main' },
      ...{ syncMode: 'Reconcile', fluxVersion, ...(components !== undefined && { components }) },
    });
    await stage.reconcileShoot();
  };
  const untilInstalled = async (version: string) => {
    await eventually(
      version,
      stage.extension,
      ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied?.fluxVersion === version,
      ({ status }) => [status?.lastOperation, status?.lastError, stage.logLines.slice(-8)],
    );
    await stage.untilReady();
  };
  const controllerVersion = async () => {
    const deployment = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
    return deployment?.metadata.labels?.['app.kubernetes.io/version'];
  };
  const createUsersObject = async () => {
    const object = {
      apiVersion: 'source.toolkit.fluxcd.io/v1beta2',
      kind: 'OCIRepository',
      metadata: inFlux('of-the-user'),
      spec: { interval: '5m', url: 'oci://registry.example/a', ref: { tag: 'latest' } },
    };
    return stage.shoot.apply(ociRepository('v1beta2'), object, { fieldManager });
  };

  it('from the oldest release to the newest, one after the other, keep objects of each kind in every version, and delete nothing of Flux', async () => {
    const all = await openDistribution(fluxDistribution).versions();
    const [oldest = '', ...newer] = all.filter((version) => version !== 'v2.9.2').sort(compareVersions);
    const store = { etcd: apis().etcd, prefix: 'shoot', client: stage.shoot };
    await ask(oldest, componentsOf(oldest));
    await untilInstalled(oldest);
    await using deletions = await watchDeletions(stage.shoot);
    let crds = await crdsOf(fluxDistribution, oldest);
    let before: Record<string, object> = {};
    for (const version of newer) {
      await stage.stopResourceManager();
      await Promise.all(crds.map((crd) => fill(store, crd)));
      await stage.startResourceManager();
      before = { ...before, ...(await everything(stage.shoot, crds)) };
      await ask(version, componentsOf(version));
      await untilInstalled(version);
      crds = await crdsOf(fluxDistribution, version);
      expect(await notCurrent(store, crds)).toEqual([]);
      expect(await everything(stage.shoot, crds)).toMatchObject(before);
    }
    expect(Object.keys(before).length).toBeGreaterThan(30);
    expect(await deletions.seen()).toEqual([]);
  });

  it.each([
    {
      what: 'to store an object again',
      refused: [ociRepository('v1'), inFlux('of-the-user')] as const,
      says: /^Flux v2\.9\.4 cannot be installed before OCIRepository flux-system\/of-the-user is stored in version v1, .*frozen/,
      left: ['v2.6.4'],
    },
    {
      what: 'a CustomResourceDefinition',
      refused: [
        resources.customResourceDefinitions,
        { name: 'receivers.notification.toolkit.fluxcd.io', namespace: undefined },
      ] as const,
      says: /receivers\.notification\.toolkit\.fluxcd\.io.*frozen/,
      left: ['v2.6.4'],
    },
    {
      what: 'a controller',
      refused: [resources.deployments, inFlux('source-controller')] as const,
      says: /Deployment flux-system\/source-controller: the ValidatingAdmissionPolicy "frozen" of the shoot denies it; .*frozen/,
      left: ['v2.6.4', 'v2.9.4'],
    },
  ])(
    'where the shoot refuses $what, the installed release keeps running, the Extension says why, and the new one follows once the cause is gone',
    async ({ refused: [kind, name], says, left }) => {
      await ask('v2.6.4');
      await untilInstalled('v2.6.4');
      await createUsersObject();
      const frozen = await refusing(apis().servers.shoot, {
        ...{ name: 'frozen', group: kind.group, resource: kind.plural, operation: 'UPDATE' },
        condition: `object.metadata.name == '${name.name}'`,
        probe() {
          const patch = { metadata: { labels: { at: String(Date.now()) } } };
          return stage.shoot.mergePatch(kind, name, patch, { fieldManager });
        },
      });
      await ask('v2.9.4');
      const refused = await eventually(
        'the refusal',
        stage.extension,
        ({ status }) => says.test(status?.lastError?.description ?? ''),
        ({ status }) => status,
      );
      expect(refused.status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
      expect(await controllerVersion()).toBe('v2.6.4');
      const { items } = await stage.shoot.list(resources.deployments, { namespace: 'flux-system' });
      const versions = items.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/version'] ?? '');
      expect([...new Set(versions)].sort()).toEqual(left);
      await frozen[Symbol.asyncDispose]();
      await ask('v2.9.4');
      await untilInstalled('v2.9.4');
      expect(await controllerVersion()).toBe('v2.9.4');
    },
  );

  it('a component that is removed leaves its CRDs and their objects, and continues with them in a newer release', async () => {
    const core = 'source-controller,kustomize-controller';
    const withImages = `${core},image-reflector-controller`;
    await ask('v2.6.4', withImages);
    await untilInstalled('v2.6.4');
    // Its finalizer stays, because no controller runs that would remove it.
    const metadata = { ...inFlux('of-the-user'), finalizers: ['finalizers.fluxcd.io'] };
    const spec = { interval: '5m', image: 'registry.example/a' };
    const object = { apiVersion: 'image.toolkit.fluxcd.io/v1beta2', kind: 'ImageRepository', metadata, spec };
    const before = await stage.shoot.apply(imageRepository('v1beta2'), object, { fieldManager });
    const controller = () => stage.shoot.find(resources.deployments, inFlux('image-reflector-controller'));

    await ask('v2.6.4', core);
    await eventually('the controller is deleted', controller, (live) => live?.metadata.deletionTimestamp !== undefined);
    // No garbage collector runs here, so the deletion would never finish.
    await stage.shoot.mergePatch(
      resources.deployments,
      inFlux('image-reflector-controller'),
      { metadata: { finalizers: null } },
      { fieldManager },
    );
    await untilInstalled('v2.6.4');
    await ask('v2.9.4', core);
    await untilInstalled('v2.9.4');
    const left = await stage.shoot.find(imageRepository('v1beta2'), metadata);
    expect(left?.metadata).toMatchObject({ uid: before.metadata.uid });
    expect(left?.metadata.deletionTimestamp).toBeUndefined();

    await ask('v2.9.4', withImages);
    await eventually('the controller is back', controller, (live) => live !== undefined);
    await untilInstalled('v2.9.4');
    const after = await stage.shoot.find(imageRepository('v1'), metadata);
    expect([after?.metadata.uid, after?.spec]).toEqual([before.metadata.uid, before.spec]);
  });

  rightsSuffice(ground);
});
