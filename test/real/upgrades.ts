import { describe, expect, it } from 'vitest';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { type Apis, CONTROL_PLANE, eventually, type Stage } from '../scenarios/stage.ts';
import { askForFlux, untilInstalledIn } from './upgrades/asking.ts';
import { freeze, type Refusal } from './upgrades/freeze.ts';

const resource =
  (group: string, plural: string, kind: string) =>
  (version: string): Resource => ({
    ...{ group: `${group}.toolkit.fluxcd.io`, version, plural, kind, namespaced: true },
  });
const ociRepository = resource('source', 'ocirepositories', 'OCIRepository');
const imageRepository = resource('image', 'imagerepositories', 'ImageRepository');
const RECEIVERS = 'receivers.notification.toolkit.fluxcd.io';
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const fieldManager = 'person';

/** Upgrades of the product between real Flux releases, where the API server refuses CRDs that lack a stored version. */
export function upgradeSuite(startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe('upgrades', () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const ask = (version: string, components?: string) => askForFlux(stage, version, components);
    const untilInstalled = (version: string) => untilInstalledIn(stage, version);
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

    it.each([
      {
        what: 'to store an object again',
        refusal: {
          group: 'source.toolkit.fluxcd.io',
          resource: 'ocirepositories',
          probe: [ociRepository('v1'), inFlux('of-the-user')],
        },
        says: /^Flux v2\.9\.4 cannot be installed before OCIRepository flux-system\/of-the-user is stored in version v1, .*frozen/,
        left: ['v2.6.4'],
      },
      {
        what: 'a CustomResourceDefinition',
        refusal: {
          group: 'apiextensions.k8s.io',
          resource: 'customresourcedefinitions',
          name: RECEIVERS,
          probe: [resources.customResourceDefinitions, { name: RECEIVERS }],
        },
        says: /receivers\.notification\.toolkit\.fluxcd\.io.*frozen/,
        left: ['v2.6.4'],
      },
      {
        what: 'a controller',
        refusal: {
          group: 'apps',
          resource: 'deployments',
          name: 'source-controller',
          probe: [resources.deployments, inFlux('source-controller')],
        },
        says: /Deployment flux-system\/source-controller: the ValidatingAdmissionPolicy "frozen" of the shoot denies it; .*frozen/,
        left: ['v2.6.4', 'v2.9.4'],
      },
    ] satisfies { what: string; refusal: Refusal; says: RegExp; left: string[] }[])(
      'where the shoot refuses $what, the installed release keeps running, the Extension says why, and the new one follows once the cause is gone',
      async ({ refusal, says, left }) => {
        await ask('v2.6.4');
        await untilInstalled('v2.6.4');
        await createUsersObject();
        await using frozen = await freeze(stage.shoot, refusal);
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
        await frozen.thaw();
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
      await eventually(
        'the controller is deleted',
        controller,
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
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

    it('keeps the installed controllers until the shoot has accepted the CRDs of the release', async () => {
      await ask('v2.8.8');
      await untilInstalled('v2.8.8');
      await stage.stopResourceManager();
      await ask('v2.9.4');
      const before = await stage.managedResources();
      await eventually(
        'the CRDs are written',
        stage.managedResources,
        (live) => live['shoot-flux-crds']?.metadata.generation !== before['shoot-flux-crds']?.metadata.generation,
      );
      const during = await stage.managedResources();
      expect(during['shoot-flux-controllers']?.spec).toEqual(before['shoot-flux-controllers']?.spec);
      await stage.startResourceManager();
      await untilInstalled('v2.9.4');
      const after = await stage.managedResources();
      expect(after['shoot-flux-controllers']?.spec).not.toEqual(before['shoot-flux-controllers']?.spec);
      expect(after['shoot-flux-controllers']?.metadata.namespace).toBe(CONTROL_PLANE);
    });
  });
}
