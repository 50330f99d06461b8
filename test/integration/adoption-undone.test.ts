import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { installFlux, tools } from '../scenarios/foreign.ts';
import { type Apis, eventually, inFlux, onlyFlux, type Stage, startStage } from '../scenarios/stage.ts';
import { crdOf, ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const group = 'fluxcd.controlplane.io';
const reconcile = `${group}/reconcile`;
const fluxInstances: Resource = {
  ...{ group, version: 'v1', plural: 'fluxinstances', kind: 'FluxInstance', namespaced: true },
};
const crd = crdOf('FluxInstance', group, 'fluxinstances', 'v1');
const fieldManager = 'person';
const instance = (name: string, annotations = {}) =>
  ({
    ...{ apiVersion: `${group}/v1`, kind: 'FluxInstance', spec: {} },
    metadata: { ...inFlux(name), annotations },
  }) as KubeObject;

let apis: Apis;
let stage: Stage;

beforeEach(async () => {
  apis = await startEmbeddedApis();
  stage = await startStage(apis, ownDistribution);
});

afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await apis.stop();
});

const state = async (name: string) => (await stage.inShoot(fluxInstances, name))?.metadata.annotations?.[reconcile];

/** flux-operator has installed Flux, and the adoption cannot get beyond a Deployment. */
async function beginAdoption(): Promise<void> {
  const { manager, marks } = tools['flux-operator'];
  await installFlux(stage, ownDistribution, manager, marks);
  await stage.shoot.create(resources.customResourceDefinitions, crd, { fieldManager });
  await stage.shoot.create(fluxInstances, instance('flux'), { fieldManager });
  await stage.shoot.create(fluxInstances, instance('paused', { [reconcile]: 'disabled' }), { fieldManager });
  (apis.shoot as KubeApi).faults.add({
    match: { method: 'PATCH', path: /deployments\/helm-controller/ },
    ...{ action: 'status', status: 403, times: Number.POSITIVE_INFINITY },
  });
  await stage.startProduct();
  await stage.reconcileShoot({ providerConfig: config({ adopt: true }) });
  await eventually(
    'the operator is stopped',
    () => state('flux'),
    (value) => value === 'disabled',
  );
}

const config = (parts: Record<string, unknown> = {}) => onlyFlux({ syncMode: 'Reconcile', ...parts });

it.each<[string, () => Promise<void>]>([
  ['adopt is taken back', () => stage.reconcileShoot({ providerConfig: config() })],
  ['the extension is removed', () => stage.deleteExtension()],
])('flux-operator works again when %s before the adoption has ended', async (_, end) => {
  await beginAdoption();
  await end();
  await eventually(
    'the operator works',
    () => state('flux'),
    (value) => value === undefined,
  );
  // The user has disabled it.
  expect(await state('paused')).toBe('disabled');
});
