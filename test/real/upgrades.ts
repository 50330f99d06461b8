import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyState } from '../../shared/gardener/managed-resource.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { type Apis, CONTROL_PLANE, eventually, patience, type Stage, startStage } from '../scenarios/stage.ts';
import { watchDeletions } from './upgrades/deletions.ts';

const ociRepository = (version: string): Resource => ({
  group: 'source.toolkit.fluxcd.io',
  version,
  plural: 'ocirepositories',
  kind: 'OCIRepository',
  namespaced: true,
});
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const fieldManager = 'person';

/** Upgrades of the product between real Flux releases, where the API server refuses CRDs that lack a stored version. */
export function upgradeSuite(startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe('upgrades', { timeout: patience }, () => {
    let apis: Apis;
    let stage: Stage;

    beforeEach(async () => {
      apis = await startApis();
    });

    afterEach(async () => {
      await stage[Symbol.asyncDispose]();
      await apis.stop();
    });

    const start = async (delivery: 'ManagedResource' | 'Direct') => {
      stage = await startStage(apis, fluxDistribution, { delivery });
      await stage.startProduct();
    };
    const ask = async (fluxVersion: string) => {
      const repository = { repositoryUrl: 'https://git.example.com/a', repositoryType: 'public' };
      await stage.setFluxConfig({ ...repository, repositoryBranch: 'main', fluxVersion, syncMode: 'Reconcile' });
      await stage.reconcileShoot();
    };
    const untilInstalled = async (version: string) => {
      await eventually(
        version,
        stage.extension,
        ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied?.fluxVersion === version,
        ({ status }) => status,
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

    /** A policy counts a moment after it was written. */
    const untilRejected = (isWanted: boolean) => {
      const patch = { metadata: { labels: { at: String(Date.now()) } } };
      return eventually(
        'the policy',
        () =>
          stage.shoot
            .mergePatch(ociRepository('v1'), inFlux('of-the-user'), patch, { fieldManager })
            .then(() => '', String),
        (answer) => answer.includes('frozen') === isWanted,
      );
    };

    it.each(['ManagedResource', 'Direct'] as const)(
      'straight from the oldest release to the newest, delivery %s: nothing is lost, nothing stops in between',
      async (delivery) => {
        await start(delivery);
        await ask('v2.3.0');
        await untilInstalled('v2.3.0');
        const before = await createUsersObject();
        const source = await stage.shoot.find(gitRepositories, inFlux('main-gitrepo'));
        await using deletions = await watchDeletions(stage.shoot);
        await ask('v2.9.4');
        await untilInstalled('v2.9.4');
        expect(await controllerVersion()).toBe('v2.9.4');
        const after = await stage.shoot.find(ociRepository('v1'), inFlux('of-the-user'));
        expect([after?.metadata.uid, after?.spec]).toEqual([before.metadata.uid, before.spec]);
        const sourceAfter = await stage.shoot.find(gitRepositories, inFlux('main-gitrepo'));
        expect(sourceAfter?.metadata.uid).toBe(source?.metadata.uid);
        expect(await deletions.seen()).toEqual([]);
        const crds = await stage.shoot.list(resources.customResourceDefinitions);
        expect(JSON.stringify(crds.items.map(({ metadata }) => metadata.annotations))).not.toMatch(/migrated|widened/);
      },
    );

    it('a release that the shoot rejects leaves the installed one running, says why, and is installed once the cause is gone', async () => {
      await start('ManagedResource');
      await ask('v2.6.4');
      await untilInstalled('v2.6.4');
      await createUsersObject();
      await stage.shoot.create(admissionPolicies.policies, denying as unknown as KubeObject, { fieldManager });
      await stage.shoot.create(admissionPolicies.bindings, binding as unknown as KubeObject, { fieldManager });
      await untilRejected(true);
      await ask('v2.9.4');
      const refused = await eventually(
        'the refusal',
        stage.extension,
        ({ status }) => status?.lastError != null,
        ({ status }) => status,
      );
      expect(refused.status?.lastError).toMatchObject({
        description: expect.stringMatching(
          /^Flux v2\.9\.4 cannot be installed before OCIRepository flux-system\/of-the-user is stored in version v1, .*frozen/,
        ),
        codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      });
      expect(await controllerVersion()).toBe('v2.6.4');
      const { 'shoot-flux-controllers': controllers } = await stage.managedResources();
      expect(controllers && applyState(controllers)).toEqual({ state: 'applied' });
      await stage.shoot.delete(admissionPolicies.bindings, { name: 'frozen' });
      await untilRejected(false);
      await ask('v2.9.4');
      await untilInstalled('v2.9.4');
      expect(await controllerVersion()).toBe('v2.9.4');
    });

    it('keeps the installed controllers until the shoot has accepted the CRDs of the release', async () => {
      await start('ManagedResource');
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

const admission = (plural: string, kind: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const admissionPolicies = {
  policies: admission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy'),
  bindings: admission('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding'),
};
const denying = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'frozen' },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['source.toolkit.fluxcd.io'],
          apiVersions: ['*'],
          operations: ['UPDATE'],
          resources: ['ocirepositories'],
        },
      ],
    },
    validations: [{ expression: 'false', message: 'the objects are frozen' }],
  },
};
const binding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'frozen' },
  spec: { policyName: 'frozen', validationActions: ['Deny'] },
};
