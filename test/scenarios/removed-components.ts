import { helmReleases } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { onApisOfEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { watchSpecs } from './removal.ts';
import { type Apis, eventually, PROJECT, type Stage } from './stage.ts';

const alerts: Resource = {
  group: 'notification.toolkit.fluxcd.io',
  version: 'v1beta3',
  plural: 'alerts',
  kind: 'Alert',
  namespaced: true,
};
const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
/** Of a shard that was configured before. */
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'flux-system', name: 'helm-controller-a-0', labels: { app: 'helm-controller-a' } },
  spec: { containers: [{ name: 'manager', image: 'example.com/helm-controller:v1' }] },
} as KubeObject;
const fieldManager = 'person';
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const core = ['source-controller', 'kustomize-controller'];
const withHelm = [...core, 'helm-controller'];
const crdOf = ({ plural, group }: Resource) => ({ name: `${plural}.${group}` });
const release = {
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { ...inFlux('podinfo'), finalizers: ['finalizers.fluxcd.io'] },
  spec: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } } },
} as KubeObject;

/** Components that leave the configuration, with `removedComponents`, on embedded or real API servers. */
export function removedComponentsSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    const startOn = onApisOfEachTest(startApis, fluxDistribution);
    let stage: Stage;

    /** Flux with helm- and notification-controller, and a HelmRelease of the user's. */
    const start = async (delivery: Settings['delivery']) => {
      stage = await startOn({ delivery });
      await deliver({ components: [...withHelm, 'notification-controller'] });
      await stage.shoot.create(helmReleases, release, { fieldManager });
    };
    const deliver = async (flux: object, gone: string[] = []) => {
      await stage.reconcileShoot({ providerConfig: config(flux) });
      for (const controller of gone) await collect(controller);
      await stage.untilReady();
    };
    const crd = (resource: Resource) => stage.shoot.find(resources.customResourceDefinitions, crdOf(resource));
    const events = async () => {
      const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
      return items.filter(({ reason }) => reason === 'FluxKindsDeleted');
    };
    /** No garbage collector runs here, so a deletion with foreground propagation would never finish. */
    const collect = async (controller: string) => {
      await eventually(
        `Deployment ${controller} is deleted`,
        () => stage.shoot.find(resources.deployments, inFlux(controller), { metadataOnly: true }),
        (live) => live === undefined || live.metadata.deletionTimestamp !== undefined,
      );
      await stage.shoot
        .mergePatch(resources.deployments, inFlux(controller), { metadata: { finalizers: null } }, { fieldManager })
        .catch(() => undefined);
    };
    const untilGone = (resource: Resource) =>
      eventually(
        `${resource.kind} is no kind of the shoot`,
        () => crd(resource),
        (live) => live === undefined,
        (live) => live?.metadata,
      );
    const recorded = async () => JSON.stringify((await stage.extension()).status?.state?.applied?.objects);

    it.each(['ManagedResource', 'Direct'] as const)(
      '%s: keeps the kinds of a removed component, and deletes them once Delete is asked for',
      async (delivery) => {
        await start(delivery);
        await deliver({ components: core }, ['helm-controller', 'notification-controller']);
        await quiet(stage);
        expect(await crd(helmReleases)).toBeDefined();
        expect((await stage.shoot.find(helmReleases, release.metadata))?.metadata).not.toHaveProperty(
          'deletionTimestamp',
        );
        expect(await events()).toEqual([]);
        const seen = await watchSpecs(stage);
        await deliver({ components: core, removedComponents: 'Delete' });
        await untilGone(helmReleases);
        await untilGone(alerts);
        // Suspended: a controller that runs against all expectation uninstalls nothing.
        await eventually(
          'the HelmRelease is gone',
          async () => seen(),
          (all) => 'flux-system/podinfo' in all,
        );
        expect(seen()).toEqual({ 'flux-system/podinfo': true });
        await eventually('the record', recorded, (objects) => !objects.includes('helmreleases'));
        expect(await recorded()).toContain('gitrepositories');
        const [event, ...more] = await events();
        expect(more).toEqual([]);
        expect(event).toMatchObject({ involvedObject: { kind: 'Shoot', name: 'bar' } });
        expect(event?.message).toMatch(/alerts\.notification\.toolkit\.fluxcd\.io, helmreleases\.helm/);
        await deliver({ components: withHelm, removedComponents: 'Delete' });
        await eventually(
          'the kind is back',
          () => crd(helmReleases),
          (live) => live !== undefined,
        );
      },
    );

    it.each(['ManagedResource', 'Direct'] as const)(
      '%s: deletes nothing while a Deployment of that name is there, or what another tool manages',
      async (delivery) => {
        await start(delivery);
        const labels = { 'kustomize.toolkit.fluxcd.io/name': 'mine', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' };
        await deliver({ components: core }, ['helm-controller', 'notification-controller']);
        await quiet(stage);
        await stage.shoot.mergePatch(
          resources.customResourceDefinitions,
          crdOf(alerts),
          { metadata: { labels } },
          { fieldManager },
        );
        const ours = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
        const theirs = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: inFlux('helm-controller'),
          spec: ours?.spec,
        };
        await stage.shoot.create(resources.deployments, theirs, { fieldManager });
        await deliver({ components: core, removedComponents: 'Delete' });
        await quiet(stage);
        expect((await crd(helmReleases))?.metadata).not.toHaveProperty('deletionTimestamp');
        expect(await events()).toEqual([]);
        await stage.shoot.delete(resources.deployments, inFlux('helm-controller'));
        await collect('helm-controller');
        await untilGone(helmReleases);
        await eventually('the record', recorded, (objects) => !objects.includes('alerts'));
        expect((await crd(alerts))?.metadata).not.toHaveProperty('deletionTimestamp');
        // The tool that manages it now can change it: nothing of ours protects it any more.
        expect((await crd(alerts))?.metadata.annotations).not.toHaveProperty(['kustomize.toolkit.fluxcd.io/ssa']);
      },
    );

    it('waits for the Pods of a shard and for controllers elsewhere, and for no component of other kinds', async () => {
      await start('ManagedResource');
      await deliver({ components: core }, ['helm-controller', 'notification-controller']);
      await quiet(stage);
      const ours = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
      const deployment = (metadata: KubeObject['metadata']) => ({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: ours?.spec },
      });
      const labels = { 'app.kubernetes.io/component': 'helm-controller' };
      const elsewhere = { namespace: 'elsewhere', name: 'mine', labels };
      await stage.shoot.apply(
        resources.namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } },
        { fieldManager },
      );
      await stage.shoot.create(resources.deployments, deployment(elsewhere), { fieldManager });
      await stage.shoot.create(resources.deployments, deployment(inFlux('image-reflector-controller')), {
        fieldManager,
      });
      await stage.shoot.create(pods, pod, { fieldManager });
      await deliver({ components: core, removedComponents: 'Delete' });
      await quiet(stage);
      await stage.shoot.delete(resources.deployments, elsewhere);
      await deliver({ components: core, removedComponents: 'Delete' });
      await quiet(stage);
      expect((await crd(helmReleases))?.metadata).not.toHaveProperty('deletionTimestamp');
      expect(await events()).toEqual([]);
      await stage.shoot.delete(pods, pod.metadata);
      await untilGone(helmReleases);
    });
  });
}

function config(flux: object): Record<string, unknown> {
  return { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Reconcile', flux };
}
