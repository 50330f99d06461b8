import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import type { GitRepository } from '@shoot-flux/landscape/git';
import { beforeAll, expect, it } from 'vitest';
import { builtInKinds, objectRef, parseRef } from '../../functions/managed-resources/shoot/objects.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { installObjects } from '../../shared/flux/install.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { eventually, type Stage } from '../scenarios/stage.ts';
import { onRealApis, useGitServer } from './on-real-apis.ts';
import { aroundEachFluxStage } from './sync/flux-stage.ts';
import { watchDeletions } from './upgrades/deletions.ts';

const components = ['source-controller', 'kustomize-controller'];
const [OURS, THEIRS] = ['v2.9.4', 'v2.8.8'];

onRealApis('a repository with its own gotk-components.yaml, applied by real controllers', (ground) => {
  const { fluxDistribution } = ground;
  const git = useGitServer();
  let stage: Stage;
  /** What the repository installs. */
  let theirs: KubeObject[];

  beforeAll(async () => {
    theirs = installObjects(await openDistribution(fluxDistribution).release(THEIRS), fluxInstall({ components }));
  });

  aroundEachFluxStage(ground, (flux) => {
    ({ stage } = flux);
  });

  const fleet = (proof: string) => ({
    'flux-system/gotk-components.yaml': theirs.map((object) => JSON.stringify(object)).join('\n---\n'),
    'proof.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'proof' },
      data: { proof },
    }),
  });
  const ask = (repository: GitRepository, syncMode: string, rest: object = {}) =>
    stage.reconcileShoot({
      providerConfig: {
        apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
        kind: 'FluxConfig',
        syncMode,
        flux: { version: OURS, components },
        source: {
          template: {
            kind: 'GitRepository',
            spec: { url: repository.httpUrl, ref: { branch: 'main' }, interval: '5s' },
          },
        },
        kustomization: { template: { spec: { path: './', prune: true, interval: '10s' } } },
        ...rest,
      },
    });
  /** The repository is applied as a whole, so the kustomize-controller has seen the objects of Flux in it. */
  const untilApplied = (proof: string) =>
    eventually(
      `the repository with ${proof} is applied`,
      async () => {
        const live = await stage.shoot.find(resources.configMaps, { namespace: 'default', name: 'proof' });
        // Until Flux is installed, the shoot does not serve this kind.
        const listed = stage.shoot.list(kustomizations, { namespace: 'flux-system' });
        const found = await listed.catch(() => undefined);
        const ready = (found?.items ?? []).map(({ status }) => (status as Status | undefined)?.conditions?.[0]);
        return { data: live?.data as Record<string, string> | undefined, ready };
      },
      ({ data, ready }) => data?.proof === proof && ready.length === 1 && ready[0]?.status === 'True',
    );
  const live = async () => {
    const found = await Promise.all(
      theirs.map((object) => {
        const kind = builtInKinds[parseRef(objectRef(object)).type];
        return kind && stage.shoot.find(kind, object.metadata);
      }),
    );
    return found.filter((object) => object !== undefined);
  };
  const releases = (objects: KubeObject[]) => [
    ...new Set(objects.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/version'])),
  ];
  const traces = (objects: KubeObject[]) =>
    objects.filter(({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).some((name) => /kustomize\.toolkit\.fluxcd\.io\/(ssa|prune)/.test(name)),
    );
  const untilReleased = (release: string) =>
    eventually(
      `all objects of Flux are of ${release}`,
      live,
      (objects) => objects.length === theirs.length && releases(objects).join() === release,
      (objects) => [objects.length, releases(objects)],
    );
  const uids = (objects: KubeObject[]) => objects.map(({ metadata }) => metadata.uid);

  it('leaves Flux alone in mode Reconcile, manages it once the mode releases it, and loses it with adopt', async () => {
    const repository = await git().createRepository('fleet', fleet('one'));
    await ask(repository, 'Reconcile');
    await stage.untilReady();
    await untilApplied('one');
    const before = await untilReleased(OURS);
    expect(traces(before)).toHaveLength(before.length);
    await using deletions = await watchDeletions(stage.shoot);

    await ask(repository, 'ManifestsOnly');
    const released = await untilReleased(THEIRS);
    expect(traces(released)).toEqual([]);

    await ask(repository, 'Reconcile');
    await eventually(
      'the condition',
      stage.extension,
      ({ status }) =>
        status?.conditions?.some(({ message = '' }) => message.includes('as flux bootstrap creates it')) === true,
      ({ status }) => status?.conditions,
    );
    expect(releases(await live())).toEqual([THEIRS]);

    await ask(repository, 'Reconcile', { adopt: true });
    await untilReleased(OURS);
    await repository.commit(fleet('two'), 'Another commit');
    await untilApplied('two');
    const { 'proof.yaml': proof } = fleet('three');
    await repository.commit({ 'flux-system/gotk-components.yaml': null, 'proof.yaml': proof }, 'Without Flux');
    await untilApplied('three');
    const after = await live();
    expect(uids(after)).toEqual(uids(before));
    expect([releases(after), traces(after).length]).toEqual([[OURS], before.length]);
    expect(await deletions.seen()).toEqual([]);
  });

  it('becomes the manager of Flux after the first success in mode Once', async () => {
    const repository = await git().createRepository('once', fleet('one'));
    await ask(repository, 'Once');
    await untilApplied('one');
    const after = await untilReleased(THEIRS);
    expect(traces(after)).toEqual([]);
    expect(await stage.inShoot(gitRepositories, 'flux-system')).toBeDefined();
  });
});

interface Status {
  conditions?: { status: string }[];
}
