import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { git, kustomize } from '../../shared/config/config.fixtures.ts';
import type { Condition } from '../../shared/gardener/types.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';
import { aroundAllTests } from '../scenarios/around-each-test.ts';
import { inFlux, onlyFlux, type Stage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const ociRepositories = { ...gitRepositories, kind: 'OCIRepository', plural: 'ocirepositories' };
const alerts: Resource = {
  ...{ group: 'notification.toolkit.fluxcd.io', version: 'v1beta3', kind: 'Alert', plural: 'alerts' },
  namespaced: true,
};

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

const whole = onlyFlux({
  syncMode: 'Reconcile',
  sources: [template(git('fleet')), template(git('apps'))],
  kustomizations: [
    template(kustomize('infrastructure', 'fleet')),
    template(kustomize('apps', 'apps', { dependsOn: [{ name: 'infrastructure' }] })),
    template(kustomize('tests', 'apps', { dependsOn: [{ name: 'apps' }], suspend: true })),
  ],
  objects: [alert, provider, release, chart],
});

describe('lists of objects on embedded API servers', () => {
  let stage: Stage;
  aroundAllTests(startEmbeddedApis, ownDistribution, (next) => {
    stage = next;
  });

  const untilCondition = async (status: string, reason?: string) => {
    const isWanted = (one: Condition) =>
      one.type === 'ObjectsReady' && one.status === status && (reason === undefined || one.reason === reason);
    const { status: live } = await stage.until(
      `ObjectsReady ${status}`,
      ({ conditions }) => conditions?.some(isWanted) === true,
    );
    return live?.conditions?.find(isWanted)?.message;
  };
  const isSuspended = (object: KubeObject | undefined) =>
    (object?.spec as { suspend?: boolean } | undefined)?.suspend === true;

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
    expect(await stage.inShoot(alerts, 'errors')).toBeDefined();
    expect(await stage.specInShoot(kustomizations, 'apps')).toMatchObject({ dependsOn: [{ name: 'infrastructure' }] });
    expect(await stage.specInShoot(kustomizations, 'tests')).toMatchObject({ suspend: true });
  });

  it('explains which objects are not Ready, and where each is written', async () => {
    const message = await untilCondition('False');
    expect(message).toContain('GitRepository flux-system/apps: ');
    expect(message).toContain(' 2 more objects are not Ready.');
    await stage.markReady(
      [gitRepositories, 'fleet'],
      [gitRepositories, 'apps'],
      [kustomizations, 'infrastructure'],
      [kustomizations, 'apps'],
      [helmReleases, 'app'],
      [ociRepositories, 'chart'],
    );
    expect(await untilCondition('False', 'Suspended')).toMatch(
      /^Kustomization flux-system\/tests is suspended and does not sync; set kustomizations\[2\]\.template\.spec\.suspend of the providerConfig, or suspend in the configuration, to false to resume it\./,
    );
    expect((await stage.extension()).status?.state?.bootstrapped).toBeUndefined();
  });

  it('suspends objects that leave before it removes them, and the rest becomes Ready', async () => {
    const kept = (whole.kustomizations as object[]).slice(0, 2);
    const setFinalizers = async (finalizers: string[] | null) => {
      const patch = { metadata: { finalizers } };
      await stage.shoot.mergePatch(kustomizations, inFlux('tests'), patch, { fieldManager: 'stage' });
      await stage.shoot.mergePatch(helmReleases, inFlux('app'), patch, { fieldManager: 'stage' });
    };
    await setFinalizers(['stage/finalizer']);
    await stage.reconcileShoot({ providerConfig: { ...whole, kustomizations: kept, objects: [alert, provider] } });
    const leaving = await stage.untilInShoot(
      helmReleases,
      'app',
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    expect(isSuspended(leaving)).toBe(true);
    await setFinalizers(null);
    await stage.untilReady();
    await stage.untilInShoot(helmReleases, 'app', (object) => object === undefined);
    expect(await stage.inShoot(kustomizations, 'apps')).toBeDefined();
    await untilCondition('True');
    await stage.until('the first success', ({ state }) => state?.bootstrapped !== undefined);
  });

  it('asks a HelmRelease and its chart to reconcile when a user asks', async () => {
    const metadata = { annotations: { 'flux.extensions.gardener.cloud/reconcile-at': 'now' } };
    await stage.reconcileShoot({ providerConfig: whole, metadata });
    const requested = (object: KubeObject | undefined) =>
      object?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'] !== undefined;
    await stage.untilInShoot(helmReleases, 'app', requested);
    await stage.untilInShoot(ociRepositories, 'chart', requested);
    expect(requested(await stage.inShoot(alerts, 'errors'))).toBe(false);
  });

  it('reports a field that is left out as one Event of the Shoot', async () => {
    const old = {
      ...kustomize('old', 'fleet', { validation: 'client' }),
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta1',
    };
    const providerConfig = { ...whole, objects: [old] };
    await stage.reconcileShoot({ providerConfig });
    await stage.untilInShoot(kustomizations, 'old');
    await stage.deliver({ providerConfig });
    expect(await stage.events('ConfigurationWarning')).toMatchObject([
      {
        involvedObject: { kind: 'Shoot', name: 'bar' },
        type: 'Warning',
        message: expect.stringContaining('objects[0].spec.validation'),
      },
    ]);
  });

  it('suspends every object that can be suspended', async () => {
    await stage.reconcileShoot({ providerConfig: { ...whole, suspend: true } });
    for (const name of ['fleet', 'apps']) await stage.untilInShoot(gitRepositories, name, isSuspended);
    await stage.untilInShoot(kustomizations, 'apps', isSuspended);
    await stage.untilInShoot(helmReleases, 'app', isSuspended);
  });
});
