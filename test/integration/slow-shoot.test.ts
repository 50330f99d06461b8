import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { eventually, type Stage, startStage } from '../scenarios/stage.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime(8);

/** Latency of every request, with which nothing completes within the ten seconds of one run. */
const LATENCY_MS = 1_000;
/** How long gardenlet waits for a deletion. */
const GARDENLET_SECONDS = 180;

const providerConfig = {
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  syncMode: 'Reconcile',
  source: {
    template: { kind: 'GitRepository', spec: { url: 'https://git.example.com/a', ref: { branch: 'main' } } },
  },
  kustomization: { template: { spec: { path: './', prune: true } } },
};

describe('a shoot with a slow API server', () => {
  let shoot: KubeApi;
  let garden: KubeApi;
  let seed: KubeApi;
  let stage: Stage;

  beforeEach(async () => {
    [garden, seed, shoot] = await Promise.all([
      startKubeApi({ objects: gardenCrds() as JsonObject[] }),
      startKubeApi({ objects: seedCrds() as JsonObject[] }),
      startKubeApi({ namespaceController: true }),
    ]);
  });

  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    await Promise.all([garden, seed, shoot].map((api) => api.stop()));
  });

  const start = async () => {
    stage = await startStage({ garden, seed, shoot, stop: async () => {} }, standInDistribution.folder);
    await stage.startProduct();
  };
  /** Delays only the requests of the product. */
  const slowDown = (ms: number) =>
    shoot.faults.add({
      match: { userAgent: /^shoot-flux/ },
      action: 'latency',
      ms,
      times: Number.POSITIVE_INFINITY,
    });

  it('removes Flux in time', async () => {
    await start();
    await stage.deliver({ providerConfig });
    await stage.bootstrap();
    for (let count = 0; count < 30; count++) {
      const name = { namespace: `team-${count}`, name: 'app' };
      await stage.shoot.create(
        resources.namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: name.namespace } },
        { fieldManager: 'person' },
      );
      const metadata = { ...name, finalizers: ['finalizers.fluxcd.io'] };
      const spec = { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } };
      await stage.shoot.create(
        kustomizations,
        { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata, spec },
        { fieldManager: 'person' },
      );
    }
    slowDown(LATENCY_MS);
    await stage.deleteExtension();
    await eventually(
      'the Extension is gone',
      async () => (await stage.extension().catch(() => undefined))?.status?.lastOperation ?? 'gone',
      (last) => last === 'gone',
      undefined,
      GARDENLET_SECONDS,
    );
    const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
    expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
    expect(
      await stage.shoot.find(resources.deployments, { namespace: 'flux-system', name: 'source-controller' }),
    ).toBeUndefined();
    const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
    expect(namespace === undefined || namespace.metadata.deletionTimestamp !== undefined).toBe(true);
  });
});
