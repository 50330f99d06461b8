import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { git, kustomize } from '../../shared/config/listed/testing.ts';
import { PROVIDER_CONFIG_API } from '../../shared/config/provider-config-schema.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { type Apis, eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const resource = (group: string, version: string, kind: string, plural: string): Resource => ({
  ...{ group: `${group}.toolkit.fluxcd.io`, version, kind, plural, namespaced: true },
});
const gitRepositories = resource('source', 'v1', 'GitRepository', 'gitrepositories');
const kustomizations = resource('kustomize', 'v1', 'Kustomization', 'kustomizations');
const helmReleases = resource('helm', 'v2', 'HelmRelease', 'helmreleases');
const ociRepositories = resource('source', 'v1', 'OCIRepository', 'ocirepositories');
const alerts = resource('notification', 'v1beta3', 'Alert', 'alerts');
const inFlux = (name: string) => ({ namespace: 'flux-system', name });

const template = (manifest: object) => ({ template: manifest });
const chart = {
  kind: 'OCIRepository',
  metadata: { name: 'chart' },
  spec: { interval: '1h', url: 'oci://charts.example.com/app', ref: { tag: '1.0.0' } },
};
const release = {
  kind: 'HelmRelease',
  metadata: { name: 'app' },
  spec: { interval: '1h', chartRef: { kind: 'OCIRepository', name: 'chart' } },
};
const provider = {
  kind: 'Provider',
  metadata: { name: 'chat' },
  spec: { type: 'generic', address: 'https://a.example' },
};
const alert = {
  kind: 'Alert',
  metadata: { name: 'errors' },
  spec: { providerRef: { name: 'chat' }, eventSources: [{ kind: 'Kustomization', name: '*' }] },
};

const whole = {
  apiVersion: PROVIDER_CONFIG_API,
  kind: 'FluxConfig',
  syncMode: 'Reconcile',
  sources: [template(git('fleet')), template(git('apps'))],
  kustomizations: [
    template(kustomize('infrastructure', 'fleet')),
    template(kustomize('apps', 'apps', { dependsOn: [{ name: 'infrastructure' }] })),
    template(kustomize('tests', 'apps', { dependsOn: [{ name: 'apps' }], suspend: true })),
  ],
  objects: [alert, provider, release, chart],
};

describe('lists of objects on embedded API servers', () => {
  let apis: Apis;
  let stage: Stage;

  beforeAll(async () => {
    apis = await startEmbeddedApis();
    stage = await startStage(apis, ownDistribution);
    await stage.startProduct();
  });

  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    await apis?.stop();
  });

  const conditionOf = async (type: string) =>
    (await stage.extension()).status?.conditions?.find((condition) => condition.type === type);
  const untilCondition = (type: string, status: string) =>
    eventually(
      `${type} ${status}`,
      () => conditionOf(type),
      (condition) => condition?.status === status,
    );
  const inShoot = (kind: Resource, name: string) => stage.inShoot(kind, name);
  const specOf = (object: KubeObject | undefined) => object?.spec as Record<string, unknown> | undefined;

  it('delivers every object, and records those that become Ready', async () => {
    await stage.deliver({ providerConfig: whole });
    const { applied } = (await stage.extension()).status?.state ?? {};
    expect([applied?.source?.name, applied?.kustomization?.name]).toEqual(['fleet', 'infrastructure']);
    expect(applied?.others?.map(({ kind, name, place }) => [kind, name, place.path])).toEqual([
      ['GitRepository', 'apps', 'sources[1].template'],
      ['OCIRepository', 'chart', 'objects[3]'],
      ['Kustomization', 'apps', 'kustomizations[1].template'],
      ['Kustomization', 'tests', 'kustomizations[2].template'],
      ['HelmRelease', 'app', 'objects[2]'],
    ]);
    expect(await inShoot(alerts, 'errors')).toBeDefined();
    expect(specOf(await inShoot(kustomizations, 'apps'))).toMatchObject({ dependsOn: [{ name: 'infrastructure' }] });
    expect(specOf(await inShoot(kustomizations, 'tests'))).toMatchObject({ suspend: true });
  });

  it('explains which objects are not Ready, and where each is written', async () => {
    const { message } = (await untilCondition('ObjectsReady', 'False')) ?? {};
    expect(message).toContain('GitRepository flux-system/apps: ');
    expect(message).toContain(' 2 more objects are not Ready.');
    await stage.markReady(
      ...[[gitRepositories, 'fleet'] as [Resource, string], [gitRepositories, 'apps'] as [Resource, string]],
      ...['infrastructure', 'apps'].map((name) => [kustomizations, name] as [Resource, string]),
      ...[[helmReleases, 'app'] as [Resource, string]],
      [resource('source', 'v1', 'OCIRepository', 'ocirepositories'), 'chart'],
    );
    const suspended = await eventually(
      'only the suspended object is left',
      () => conditionOf('ObjectsReady'),
      (condition) => condition?.reason === 'Suspended',
    );
    expect(suspended?.message).toMatch(
      /^Kustomization flux-system\/tests is suspended and does not sync; set kustomizations\[2\]\.template\.spec\.suspend of the providerConfig, or suspend in the configuration, to false to resume it\./,
    );
    expect((await stage.extension()).status?.state?.bootstrapped).toBeUndefined();
  });

  it('suspends objects that leave before it removes them, and the rest becomes Ready', async () => {
    const less = { ...whole, kustomizations: whole.kustomizations.slice(0, 2), objects: [alert, provider] };
    const finalizers = ['stage/finalizer'];
    for (const [kind, name] of [
      [kustomizations, 'tests'],
      [helmReleases, 'app'],
    ] as const)
      await stage.shoot.mergePatch(kind, inFlux(name), { metadata: { finalizers } }, { fieldManager: 'stage' });
    await stage.reconcileShoot({ providerConfig: less });
    const leaving = await eventually(
      'the HelmRelease is being deleted',
      () => inShoot(helmReleases, 'app'),
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    expect(specOf(leaving)).toMatchObject({ suspend: true });
    for (const [kind, name] of [
      [kustomizations, 'tests'],
      [helmReleases, 'app'],
    ] as const)
      await stage.shoot.mergePatch(kind, inFlux(name), { metadata: { finalizers: null } }, { fieldManager: 'stage' });
    await stage.untilReady();
    await eventually(
      'the HelmRelease is gone',
      () => inShoot(helmReleases, 'app'),
      (object) => object === undefined,
    );
    expect(await inShoot(kustomizations, 'apps')).toBeDefined();
    await untilCondition('ObjectsReady', 'True');
    await stage.until('the first success', ({ state }) => state?.bootstrapped !== undefined);
  });

  it('asks a HelmRelease and its chart to reconcile when a user asks', async () => {
    const metadata = { annotations: { 'flux.extensions.gardener.cloud/reconcile-at': 'now' } };
    await stage.reconcileShoot({ providerConfig: whole, metadata });
    for (const [kind, name] of [
      [helmReleases, 'app'],
      [ociRepositories, 'chart'],
    ] as const)
      await eventually(
        `${name} is asked`,
        () => inShoot(kind, name),
        (object) => object?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'] !== undefined,
      );
    expect((await inShoot(alerts, 'errors'))?.metadata.annotations).not.toHaveProperty([
      'reconcile.fluxcd.io/requestedAt',
    ]);
  });

  it('reports a field that is left out as one Event of the Shoot', async () => {
    const old = {
      ...kustomize('old', 'fleet', { validation: 'client' }),
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta1',
    };
    const providerConfig = { ...whole, objects: [old] };
    await stage.reconcileShoot({ providerConfig });
    await eventually(
      'the Kustomization',
      () => inShoot(kustomizations, 'old'),
      (object) => object !== undefined,
    );
    await stage.deliver({ providerConfig });
    const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
    const warnings = items.filter(({ reason }) => reason === 'ConfigurationWarning');
    expect(warnings).toMatchObject([
      {
        involvedObject: { kind: 'Shoot', name: 'bar' },
        type: 'Warning',
        message: expect.stringContaining('objects[0].spec.validation'),
      },
    ]);
  });

  it('suspends every object that can be suspended', async () => {
    await stage.reconcileShoot({ providerConfig: { ...whole, suspend: true } });
    for (const [kind, name] of [
      [gitRepositories, 'fleet'],
      [gitRepositories, 'apps'],
      [kustomizations, 'apps'],
      [helmReleases, 'app'],
    ] as const)
      await eventually(
        `${name} is suspended`,
        () => inShoot(kind, name),
        (object) => specOf(object)?.suspend === true,
      );
  });

  it('applies nothing of a configuration whose Secret lacks a key', async () => {
    const entries = [{ name: 'token', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'my-token' } }];
    await stage.seed.apply(
      { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'shoot--foo--bar', name: 'ref-my-token' },
        data: { username: 'dQ==' },
      } as KubeObject,
      { fieldManager: 'gardener' },
    );
    const third = git('third', { secretRef: { name: 'my-token' } });
    const providerConfig = { ...whole, objects: [third], additionalSecretResources: [{ name: 'token' }] };
    await stage.reconcileShoot({ providerConfig, spec: { resources: entries } });
    const failed = await stage.until(
      'the error',
      ({ lastError }) => lastError?.description.includes('has no password') === true,
    );
    expect(failed.status?.lastError?.description).toContain(
      'providerConfig: objects[0].spec.secretRef names Secret flux-system/my-token, which has no password; add the key to the original of the Secret',
    );
    expect(await inShoot(gitRepositories, 'third')).toBeUndefined();
  });
});
