import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { deployedByFlux, watchSpecs } from '../scenarios/removal.ts';
import { eventually, startStage } from '../scenarios/stage.ts';
import { ownDistribution } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const nested = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { namespace: 'apps', name: 'nested' },
} as KubeObject;

it('suspends a Kustomization again that a concurrent reconciliation has resumed, before it is deleted', async () => {
  // The repository says `suspend: false`, and kustomize-controller finishes what it has begun.
  const endsItsWork = () =>
    shoot.objects.patch(nested, { metadata: { finalizers: ['finalizers.fluxcd.io'] }, spec: { suspend: false } });
  let isUnderWay = true;
  const shoot: KubeApi = await startKubeApi({
    namespaceController: true,
    onRequest: ({ method, path, userAgent }) => {
      const isLast = method === 'DELETE' && path.endsWith('/deployments/kustomize-controller');
      if (!isUnderWay || !isLast || !userAgent.startsWith('shoot-flux')) return;
      isUnderWay = false;
      endsItsWork();
    },
  });
  const garden = await startKubeApi({ objects: gardenCrds() as JsonObject[] });
  const seed = await startKubeApi({ objects: seedCrds() as JsonObject[] });
  const stop = async () => void (await Promise.all([garden, seed, shoot].map((api) => api.stop())));
  try {
    await using stage = await startStage({ garden, seed, shoot, stop }, ownDistribution);
    await stage.startProduct();
    await stage.setFluxConfig({
      repositoryUrl: 'https://git.example.com/fleet',
      repositoryBranch: 'main',
      repositoryType: 'public',
      syncMode: 'Reconcile',
    });
    await stage.reconcileShoot();
    await stage.untilReady();
    for (const [resource, object] of deployedByFlux) {
      await stage.shoot.create(resource, object, { fieldManager: 'person' });
    }
    const seen = await watchSpecs(stage);
    await stage.deleteExtension();
    await eventually(
      'the Extension is gone',
      async () => (await stage.extension().catch(() => undefined))?.status?.lastOperation ?? 'gone',
      (last) => last === 'gone',
    );
    const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
    expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
    expect(isUnderWay).toBe(false);
    expect(seen()).toMatchObject({ 'apps/nested': true });
  } finally {
    await stop();
  }
});
