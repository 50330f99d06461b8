import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it, onTestFinished } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { deployedByFlux, watchSpecs } from '../scenarios/removal.ts';
import { eventually, inFlux, providerConfig, publicRepository, startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const serviceAccounts: Resource = {
  ...{ group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
};
const nested = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { namespace: 'apps', name: 'nested' },
} as KubeObject;

it('suspends a Kustomization again that a concurrent reconciliation has resumed, before it is deleted', async () => {
  // The repository says `suspend: false`, and kustomize-controller finishes what it has begun.
  const endsItsWork = () =>
    apis.shoot.objects.patch(nested, { metadata: { finalizers: ['finalizers.fluxcd.io'] }, spec: { suspend: false } });
  let isUnderWay = true;
  const apis = await startEmbeddedApis({
    onRequest: ({ method, path, userAgent }) => {
      const isLast = method === 'DELETE' && path.endsWith('/deployments/kustomize-controller');
      if (!isUnderWay || !isLast || !userAgent.startsWith('shoot-flux')) return;
      isUnderWay = false;
      endsItsWork();
    },
  });
  onTestFinished(() => apis.stop());
  await using stage = await startStage(apis, ownDistribution);
  await stage.startProduct();
  await stage.setFluxConfig({ ...publicRepository, syncMode: 'Reconcile' });
  await stage.deliver();
  for (const [resource, object] of deployedByFlux) {
    await stage.shoot.create(resource, object, { fieldManager: 'person' });
  }
  const seen = await watchSpecs(stage);
  await stage.leave();
  const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
  expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
  expect(isUnderWay).toBe(false);
  expect(seen()).toMatchObject({ 'apps/nested': true });
});

it('owns the new namespace and installs Flux in it when it is added again while the former namespace is being deleted', async () => {
  const apis = await startEmbeddedApis();
  onTestFinished(() => apis.stop());
  await using stage = await startStage(apis, ownDistribution);
  await stage.startProduct();
  const namespace = () => stage.shoot.find(resources.namespaces, { name: 'flux-system' });
  const parts = { providerConfig: providerConfig({ syncMode: 'Reconcile' }) };
  await stage.deliver(parts);
  await stage.bootstrap();
  const metadata = { ...inFlux('held'), finalizers: ['example.com/slow'] };
  const held = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  await stage.shoot.create(serviceAccounts, held, { fieldManager: 'person' });
  await stage.leave();
  expect((await namespace())?.metadata.deletionTimestamp).toBeDefined();
  await stage.reconcileShoot(parts);
  await stage.untilError('is being deleted');
  await stage.shoot.mergePatch(
    serviceAccounts,
    metadata,
    { metadata: { finalizers: null } },
    { fieldManager: 'person' },
  );
  await eventually('the former namespace is gone', namespace, (live) => live?.metadata.deletionTimestamp === undefined);
  const { status } = await stage.deliver(parts);
  expect(status?.state?.applied).toMatchObject({ ownsNamespace: true });
  expect(await stage.inShoot(kustomizations, 'flux-system')).toBeDefined();
});
