import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { eventually, type Stage } from '../scenarios/stage.ts';
import { untilGone } from './install/life-checks.ts';
import { onRealApis, useGitServer } from './on-real-apis.ts';
import { aroundEachFluxStage, type FluxStage } from './sync/flux-stage.ts';

onRealApis('podinfo from a real Git server, applied by the real controllers of Flux', (ground) => {
  const git = useGitServer();
  let flux: FluxStage;
  let stage: Stage;

  aroundEachFluxStage(ground, (next) => {
    flux = next;
    ({ stage } = next);
  });

  const inFlux = (name: string) => ({ namespace: 'flux-system', name });
  const inDefault = (name: string) => ({ namespace: 'default', name });
  const managedResources = async () => Object.keys(await stage.managedResources()).sort();
  const untilPodinfo = (isWanted?: (live: KubeObject) => boolean) =>
    flux.untilApplied(resources.deployments, 'podinfo', isWanted);
  const imageOf = (live: KubeObject) => JSON.stringify(live.spec).match(/"image":"[^"]*:([^"]+)"/)?.[1];

  it('private repository, mode Once: is installed, released, and keeps working without us', async () => {
    const repository = await git().createRepository('fleet', podinfo('6.9.2'));
    await repository.commit(podinfo('6.0.0'), 'Another branch', 'other');
    const config = {
      syncMode: 'Once',
      repositoryUrl: repository.sshUrl,
      repositoryBranch: 'main',
      repositoryType: 'private',
      repositoryInterval: '5s',
      knownHosts: git().knownHosts,
    };
    await stage.setFluxConfig(config);
    await stage.reconcileShoot();
    await stage.untilReady();
    await flux.untilCondition(
      'SourceReady',
      ({ status, message }) => status === 'False' && /main-gitrepo/.test(message),
    );

    // As a person adds the generated key.
    git().addDeployKey(repository.name, await flux.sourceKey('identity.pub'));
    await untilPodinfo((live) => imageOf(live) === '6.9.2');
    expect(await stage.shoot.find(services, inDefault('podinfo'))).toBeDefined();
    await flux.untilCondition('KustomizationReady');
    await eventually('the first success', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
    await eventually('Flux is released', managedResources, (names) => names.join() === 'shoot-flux-secrets');
    await flux.untilCondition('FluxReady');
    await expectFlux();

    await repository.commit(podinfo('6.9.4'), 'A newer podinfo');
    await untilPodinfo((live) => imageOf(live) === '6.9.4');
    await stage.setFluxConfig({ ...config, repositoryBranch: 'other' });
    await stage.reconcileShoot();
    await stage.untilReady();
    await stage.quiet();
    expect((await stage.shoot.find(gitRepositories, inFlux('main-gitrepo')))?.spec).toMatchObject({
      ref: { branch: 'main' },
    });
    expect(imageOf(await untilPodinfo())).toBe('6.9.4');
    await expectFlux();
    const identity = await flux.sourceKey('identity');
    expect(stage.logLines.join('\n')).not.toContain(identity.split('\n')[1]);
  });

  it('the extension leaves and Flux with it; what its controllers have deployed stays', async () => {
    const repository = await git().createRepository('leaving', withNested(podinfo('6.9.2')));
    const path = './root';
    const config = { repositoryUrl: repository.httpUrl, repositoryBranch: 'main', repositoryPath: path };
    await stage.setFluxConfig({ ...config, syncMode: 'Reconcile' });
    await stage.reconcileShoot();
    await stage.untilReady();
    await untilPodinfo((live) => imageOf(live) === '6.9.2');
    await flux.untilData('nested', { a: 'b' });

    await stage.deleteExtension();
    await untilGone(stage, 120);
    const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
    expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
    for (const [kind, name] of [
      [resources.deployments, 'podinfo'],
      [resources.configMaps, 'nested'],
    ] as const) {
      const live = await stage.shoot.find(kind, inDefault(name));
      expect(live?.metadata.labels).toHaveProperty(['kustomize.toolkit.fluxcd.io/name']);
      expect(live?.metadata).not.toHaveProperty('deletionTimestamp');
    }
  });

  const expectFlux = async () => {
    const live = await Promise.all([
      stage.shoot.find(resources.deployments, inFlux('source-controller')),
      stage.shoot.find(resources.deployments, inFlux('kustomize-controller')),
      stage.shoot.find(gitRepositories, inFlux('main-gitrepo')),
      stage.shoot.find(kustomizations, inFlux('main-ks')),
    ]);
    expect(live.map((object) => object?.metadata.deletionTimestamp ?? object?.metadata.name)).toEqual([
      'source-controller',
      'kustomize-controller',
      'main-gitrepo',
      'main-ks',
    ]);
  };
});

const services = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

/** A folder with these files, and beside it a Kustomization with `prune`, with a ConfigMap in its folder. */
function withNested(files: Record<string, string>): Record<string, string> {
  const sourceRef = { kind: 'GitRepository', name: 'main-gitrepo', namespace: 'flux-system' };
  const nested = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'nested' },
    spec: { interval: '5m', path: './nested', prune: true, targetNamespace: 'default', sourceRef },
  };
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nested' }, data: { a: 'b' } };
  const inRoot = Object.entries(files).map(([path, file]) => [`root/${path}`, file]);
  return {
    ...Object.fromEntries(inRoot),
    'root/nested.yaml': JSON.stringify(nested),
    'nested/config-map.yaml': JSON.stringify(configMap),
  };
}

/** A repository with podinfo as Deployment and Service. */
function podinfo(version: string): Record<string, string> {
  const labels = { app: 'podinfo' };
  const container = {
    name: 'podinfo',
    image: `ghcr.io/stefanprodan/podinfo:${version}`,
    ports: [{ containerPort: 9898 }],
  };
  const objects = {
    'deployment.yaml': {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'podinfo' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    'service.yaml': {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'podinfo' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 9898 }] },
    },
  };
  return Object.fromEntries(Object.entries(objects).map(([path, object]) => [path, JSON.stringify(object)]));
}
