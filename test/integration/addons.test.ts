import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { beforeEach, describe, expect, it } from 'vitest';
import { git, kustomize } from '../../shared/config/config.fixtures.ts';
import type { Landscape } from '../../shared/config/types.ts';
import type { Resource } from '../../shared/kube/resource.ts';
import { aroundAllTests } from '../scenarios/around-each-test.ts';
import { inFlux, type Stage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const ociRepositories: Resource = { ...gitRepositories, kind: 'OCIRepository', plural: 'ocirepositories' };

/** A chart in a registry that the policy refuses to projects. */
const chart = (name: string, values: object = {}) => [
  {
    kind: 'OCIRepository',
    metadata: { name },
    spec: { interval: '1h', url: `oci://charts.example.com/${name}`, ref: { tag: '1.0.0' } },
  },
  {
    kind: 'HelmRelease',
    metadata: { name },
    spec: { interval: '1h', chartRef: { kind: 'OCIRepository', name }, values },
  },
];
const certManager = { objects: chart('cert-manager') };
const minio = { objects: chart('minio', { replicas: 4 }), values: ['persistence.size'] };
const catalogueOf = (addons: object) =>
  ({ addons, policy: { allowedRepositoryUrls: ['https://github.com/org/**'] } }) as Landscape;
const whole = catalogueOf({ 'cert-manager': certManager, minio, velero: { ...certManager, projects: ['bar'] } });

describe('addons on embedded API servers', () => {
  let stage: Stage;
  aroundAllTests(startEmbeddedApis, ownDistribution, (next) => {
    stage = next;
  });

  const FLUX_CONFIG = 'ConfigMap garden-foo/flux-config';
  /** Of the project itself, beside the addons. */
  const own = JSON.stringify([git('own'), kustomize('own', 'own')]);
  const list = (...addons: unknown[]) =>
    stage.setFluxConfig({ 'config.yaml': `{ addons: ${JSON.stringify(addons)}, objects: ${own} }` });
  const untilGone = (resource: Resource, name: string) =>
    stage.untilInShoot(resource, name, (object) => object === undefined);
  const uids = async () => {
    const all = [
      [gitRepositories, 'own'],
      [kustomizations, 'own'],
      [ociRepositories, 'cert-manager'],
      [helmReleases, 'cert-manager'],
    ] as const;
    return Promise.all(all.map(async ([resource, name]) => (await stage.inShoot(resource, name))?.metadata.uid));
  };
  const applied = async () => (await stage.extension()).status?.state?.applied;

  beforeEach(() => stage.quiet());

  it('arrive in the Shoot as objects of Flux, with the values of the project', async () => {
    await stage.setLandscape(whole);
    await list('cert-manager', { name: 'minio', values: { persistence: { size: '9Gi' } } });
    await stage.deliver();
    await stage.untilInShoot(ociRepositories, 'cert-manager');
    await stage.untilInShoot(helmReleases, 'cert-manager');
    expect(await stage.specInShoot(helmReleases, 'minio')).toMatchObject({
      values: { replicas: 4, persistence: { size: '9Gi' } },
    });
    expect((await applied())?.others?.map(({ name, place }) => [name, place.object])).toEqual([
      ['own', FLUX_CONFIG],
      ['cert-manager', 'addon cert-manager'],
      ['minio', 'addon minio'],
      ['own', FLUX_CONFIG],
      ['cert-manager', 'addon cert-manager'],
      ['minio', 'addon minio'],
    ]);
    await stage.markReady(
      [gitRepositories, 'own'],
      [kustomizations, 'own'],
      [ociRepositories, 'cert-manager'],
      [ociRepositories, 'minio'],
      [helmReleases, 'cert-manager'],
      [helmReleases, 'minio'],
    );
    await stage.until('the first success', ({ state }) => state?.bootstrapped !== undefined);
  });

  it('leave with their names, suspended, and everything else stays', async () => {
    const before = await uids();
    expect(before).not.toContain(undefined);
    const setFinalizers = (finalizers: string[] | null) =>
      stage.shoot.mergePatch(helmReleases, inFlux('minio'), { metadata: { finalizers } }, { fieldManager: 'stage' });
    await setFinalizers(['stage/finalizer']);
    await list('cert-manager');
    const isLeaving = (object: { metadata: { deletionTimestamp?: string | undefined } } | undefined) =>
      object?.metadata.deletionTimestamp !== undefined;
    // So helm-controller does not uninstall what it has deployed.
    expect(await stage.untilInShoot(helmReleases, 'minio', isLeaving)).toMatchObject({ spec: { suspend: true } });
    await setFinalizers(null);
    await untilGone(helmReleases, 'minio');
    await untilGone(ociRepositories, 'minio');
    expect(await uids()).toEqual(before);
  });

  it.each([
    ['cert-manger', 'is not an addon of this landscape (did you mean cert-manager?); use one of cert-manager, minio'],
    ['velero', 'is not allowed for project foo in this landscape; use one of cert-manager, minio'],
  ])('%s is refused, also without a policy, and what was applied stays', async (name, words) => {
    await stage.setLandscape({ addons: whole.addons });
    const before = await uids();
    await list('cert-manager', name);
    const sentence = `${FLUX_CONFIG}: config.yaml.addons[1] "${name}" ${words}`;
    await stage.reconcileShoot();
    const { codes } = await stage.untilError(sentence);
    expect(codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
    const refusals = (await stage.untilEvent('NotAllowed', sentence)).map(({ message }) => message);
    expect(refusals).toContainEqual(expect.stringContaining(sentence));
    expect(await uids()).toEqual(before);
    await list('cert-manager');
    await stage.deliver();
    expect(await uids()).toEqual(before);
  });

  it('stay when they leave the catalogue, and operations of the Shoot succeed', async () => {
    const before = await uids();
    await stage.setLandscape(catalogueOf({ minio }));
    const words = '"cert-manager" is not an addon of this landscape; use minio, or remove it';
    await stage.untilCondition('ConfigurationFollowed', words);
    await stage.deliver();
    expect(await uids()).toEqual(before);
    await stage.setLandscape({});
    await stage.untilCondition('ConfigurationFollowed', 'because this landscape has no addons');
    await stage.deliver();
    expect(await uids()).toEqual(before);
  });
});
