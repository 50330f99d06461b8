import { helmReleases } from '@shoot-flux/landscape/flux/objects';
import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type Apis, eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const fieldManager = 'person';
const core = ['source-controller', 'kustomize-controller'];
const withHelm = [...core, 'helm-controller'];
const release = (name: string, suspend?: boolean) =>
  ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { namespace: 'flux-system', name, finalizers: ['finalizers.fluxcd.io'] },
    spec: { interval: '5m', ...(suspend && { suspend }), chart: { spec: { chart: name } } },
  }) as KubeObject;

let apis: Apis;
let stage: Stage;

beforeEach(async () => {
  apis = await startEmbeddedApis();
});

afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await apis.stop();
});

/** Flux without helm-controller, whose kinds the shoot does not delete although the configuration asks for it. */
async function beginDeletion(): Promise<void> {
  stage = await startStage(apis, ownDistribution);
  await stage.startProduct();
  await deliver({ components: withHelm });
  await stage.shoot.create(helmReleases, release('podinfo'), { fieldManager });
  await stage.shoot.create(helmReleases, release('paused', true), { fieldManager });
  (apis.shoot as KubeApi).faults.add({
    match: { method: 'DELETE', path: /customresourcedefinitions\/helmreleases/ },
    ...{ action: 'status', status: 403, times: Number.POSITIVE_INFINITY },
  });
  await deliver({ components: core, removedComponents: 'Delete' }, true);
  await eventually(
    'podinfo is suspended',
    () => suspended('podinfo'),
    (value) => value === true,
  );
  await eventually('an Event says why', staying, (messages) => messages.length === 1);
}

async function deliver(flux: object, collects = false): Promise<void> {
  const head = { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Reconcile' };
  await stage.reconcileShoot({ providerConfig: { ...head, flux } });
  if (collects) await collect();
  await stage.untilReady();
}

/** No garbage collector runs here, so a deletion with foreground propagation would never finish. */
async function collect(): Promise<void> {
  const name = { namespace: 'flux-system', name: 'helm-controller' };
  await eventually(
    'helm-controller is deleted',
    () => stage.shoot.find(resources.deployments, name, { metadataOnly: true }),
    (live) => live === undefined || live.metadata.deletionTimestamp !== undefined,
  );
  const patch = { metadata: { finalizers: null } };
  await stage.shoot.mergePatch(resources.deployments, name, patch, { fieldManager }).catch(() => undefined);
}

async function suspended(name: string): Promise<boolean> {
  const live = await stage.shoot.find(helmReleases, { namespace: 'flux-system', name });
  return (live?.spec as { suspend?: boolean } | undefined)?.suspend === true;
}

async function staying(): Promise<string[]> {
  const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
  return items.filter(({ reason }) => reason === 'FluxKindsStay').map(({ message }) => String(message));
}

const recorded = async () => (await stage.extension()).status?.state?.applied?.deletingKinds;

it.each([
  ['Keep is asked for again', { components: core, removedComponents: 'Keep' }],
  ['the component is back', { components: withHelm, removedComponents: 'Delete' }],
])('resumes the objects of kinds that stay after all: %s', async (_, flux) => {
  await beginDeletion();
  expect(await recorded()).toBeDefined();
  expect((await staying())[0]).toMatch(
    /^removedComponents is Delete, but the shoot rejects a change that this needs, so these .* are not deleted: helmreleases\.helm\.toolkit\.fluxcd\.io; exempt them/,
  );
  await deliver(flux);
  await eventually(
    'podinfo is resumed',
    () => suspended('podinfo'),
    (value) => value === false,
  );
  // The user has suspended it.
  expect(await suspended('paused')).toBe(true);
  await eventually('the record', recorded, (value) => value === undefined);
});

it('resumes them when the extension leaves, and Flux stays', async () => {
  await beginDeletion();
  await deliver({ components: core, removedComponents: 'Delete' });
  const head = { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Reconcile' };
  await stage.reconcileShoot({
    providerConfig: { ...head, deletionPolicy: 'Orphan', flux: { components: core, removedComponents: 'Delete' } },
  });
  await stage.untilReady();
  await stage.deleteExtension();
  await eventually(
    'podinfo is resumed',
    () => suspended('podinfo'),
    (value) => value === false,
  );
});
