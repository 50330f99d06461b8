import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { EXTENSION, eventually, providerConfig, startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime(5);

/**
 * Latency of every request, with which the removal needs several runs of ten seconds, but only a fifth of the two
 * minutes after which the product gives up: the rest is for a busy machine.
 */
const LATENCY_MS = 500;
/** How long gardenlet waits for a deletion. */
const GARDENLET_SECONDS = 180;
const person = { fieldManager: 'person' };

it('removes Flux in time from a shoot with a slow API server', async () => {
  const apis = await startEmbeddedApis();
  await using stage = await startStage(apis, ownDistribution);
  await stage.startProduct();
  await stage.deliver({ providerConfig: providerConfig({ syncMode: 'Reconcile' }) });
  await stage.bootstrap();
  for (let count = 0; count < 30; count++) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `team-${count}` } };
    await stage.shoot.create(resources.namespaces, namespace, person);
    const metadata = { namespace: `team-${count}`, name: 'app', finalizers: ['finalizers.fluxcd.io'] };
    const spec = { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } };
    const object = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata, spec };
    await stage.shoot.create(kustomizations, object, person);
  }
  // Delays only the requests of the product.
  (apis.shoot as KubeApi).faults.add({
    match: { userAgent: /^shoot-flux/ },
    action: 'latency',
    ms: LATENCY_MS,
    times: Number.POSITIVE_INFINITY,
  });
  await stage.deleteExtension();
  await eventually(
    'the Extension is gone',
    () => stage.seed.find(resources.extensions, EXTENSION),
    (live) => live === undefined,
    (live) => live?.status,
    GARDENLET_SECONDS,
  );
  const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
  expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
  expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeUndefined();
  const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
  expect(namespace === undefined || namespace.metadata.deletionTimestamp !== undefined).toBe(true);
  await apis.stop();
});
