import type { Controller } from '@shoot-flux/landscape/controllers';
import { startSourceController } from '@shoot-flux/landscape/flux';
import { gitRepositories, kustomizationFactory, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { explain } from '../../functions/readiness/explain/explain.ts';
import { readiness } from '../../functions/readiness/kstatus.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { startKustomizeController } from './cluster/kustomize-controller.ts';
import { fluxFailures } from './flux-failures.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('podinfo from a real Git server, applied by the real kustomize-controller', () => {
  let apis: RealApis;
  let git: GitServer;
  let stage: Stage;
  let nodes: Controller;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  beforeEach(async () => {
    stage = await startStage({ ...apis, stop: apis.forget }, fluxDistribution ?? '');
    const { url, ca, token } = apis.shoot;
    const kubeconfigFile = await apis.servers.shoot.kubeconfigFile();
    // Flux runs where and while its Deployments exist.
    nodes = await startNodes(
      { server: url, ca, token },
      {
        programs: {
          'source-controller': startSourceController,
          'kustomize-controller': () => startKustomizeController({ kubeconfigFile }),
        },
      },
    );
    await stage.startProduct();
  });

  afterEach(async () => {
    await nodes?.stop();
    await stage?.[Symbol.asyncDispose]();
    await apis?.forget();
  });

  const inFlux = (name: string) => ({ namespace: 'flux-system', name });
  const inDefault = (name: string) => ({ namespace: 'default', name });
  const managedResources = async () => Object.keys(await stage.managedResources()).sort();
  const deployment = () => stage.shoot.find(resources.deployments, inDefault('podinfo'));
  const untilPodinfo = (what: string, isWanted: (live: KubeObject) => boolean) =>
    eventually(what, deployment, (live) => live !== undefined && isWanted(live), undefined, 90);
  const imageOf = (live: KubeObject) => JSON.stringify(live.spec).match(/"image":"[^"]*:([^"]+)"/)?.[1];
  const condition = async (type: string) =>
    (await stage.extension()).status?.conditions?.find((entry) => entry.type === type);
  const untilCondition = (type: string, status: string) =>
    eventually(
      `${type} is ${status}`,
      () => condition(type),
      (live) => live?.status === status,
      undefined,
      90,
    );

  /** Adds the generated key to the repository, as a person would. */
  const addDeployKey = async (repository: GitRepository) => {
    const source = await eventually(
      'the key',
      () => stage.garden.find(resources.secrets, { namespace: PROJECT, name: 'flux-source' }),
      (live) => live !== undefined,
    );
    const data = source?.data as Record<string, string>;
    git.addDeployKey(repository.name, text(data['identity.pub']));
    return text(data.identity);
  };

  it('private repository, mode Once: is installed, released, and keeps working without us', async () => {
    const repository = await git.createRepository('fleet', podinfo('6.9.2'));
    await repository.commit(podinfo('6.0.0'), 'Another branch', 'other');
    const config = {
      syncMode: 'Once',
      repositoryUrl: repository.sshUrl,
      repositoryBranch: 'main',
      repositoryType: 'private',
      knownHosts: git.knownHosts,
    };
    await stage.setFluxConfig(config);
    await stage.reconcileShoot();
    await stage.untilReady();
    expect(await untilCondition('SourceReady', 'False')).toMatchObject({
      message: expect.stringContaining('main-gitrepo'),
    });

    const identity = await addDeployKey(repository);
    await untilPodinfo('podinfo is in the shoot', (live) => imageOf(live) === '6.9.2');
    expect(await stage.shoot.find(services, inDefault('podinfo'))).toBeDefined();
    await untilCondition('KustomizationReady', 'True');
    await eventually('the first success', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
    await eventually('Flux is released', managedResources, (names) => names.join() === 'shoot-flux-secrets');
    await untilCondition('FluxReady', 'True');
    await expectFlux();

    await repository.commit(podinfo('6.9.4'), 'A newer podinfo');
    await untilPodinfo('the commit arrives although Flux is released', (live) => imageOf(live) === '6.9.4');
    await stage.setFluxConfig({ ...config, repositoryBranch: 'other' });
    await stage.reconcileShoot();
    await stage.untilReady();
    await stage.quiet();
    expect((await stage.shoot.find(gitRepositories, inFlux('main-gitrepo')))?.spec).toMatchObject({
      ref: { branch: 'main' },
    });
    expect(imageOf((await deployment()) as KubeObject)).toBe('6.9.4');
    await expectFlux();
    expect(stage.logLines.join('\n')).not.toContain(identity.split('\n')[1] ?? '');
  });

  it('substitutes facts of the Shoot into the objects of the repository', async () => {
    const files = podinfo('6.9.2', {
      shoot: variable('SHOOT_INFO_NAME'),
      id: variable('SHOOT_INFO_TECHNICAL_ID:=none'),
    });
    const repository = await git.createRepository('facts', files);
    const substituteFrom = [{ kind: 'ConfigMap', name: 'shoot-info' }];
    await stage.reconcileShoot({
      providerConfig: {
        apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
        kind: 'FluxConfig',
        source: { template: { kind: 'GitRepository', spec: { url: repository.httpUrl, ref: { branch: 'main' } } } },
        kustomization: {
          template: { spec: { path: './', prune: true, targetNamespace: 'default', postBuild: { substituteFrom } } },
        },
      },
    });
    await stage.untilReady();
    const live = await untilPodinfo('podinfo is in the shoot', () => true);
    expect(live?.metadata.annotations).toMatchObject({ shoot: 'bar', id: 'shoot--foo--bar' });
    await untilCondition('KustomizationReady', 'True');
  });

  it('the extension leaves and Flux with it; what its controllers have deployed stays', async () => {
    const repository = await git.createRepository('leaving', withNested(podinfo('6.9.2')));
    const path = './root';
    const config = { repositoryUrl: repository.httpUrl, repositoryBranch: 'main', repositoryPath: path };
    await stage.setFluxConfig({ ...config, syncMode: 'Reconcile' });
    await stage.reconcileShoot();
    await stage.untilReady();
    await untilPodinfo('podinfo is in the shoot', (live) => imageOf(live) === '6.9.2');
    const nested = () => stage.shoot.find(resources.configMaps, inDefault('nested'));
    await eventually('the nested one is in the shoot', nested, (live) => live !== undefined, undefined, 60);

    await stage.deleteExtension();
    const extension = () => stage.extension().catch(() => undefined);
    const status = (live: Awaited<ReturnType<typeof extension>>) => live?.status;
    await eventually('the Extension is gone', extension, (live) => live === undefined, status, 120);
    const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
    expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
    for (const live of [await deployment(), await nested()]) {
      expect(live?.metadata.labels).toHaveProperty(['kustomize.toolkit.fluxcd.io/name']);
      expect(live?.metadata).not.toHaveProperty('deletionTimestamp');
    }
  });

  it('explains every failure of kustomize-controller with a remedy and without secrets', async () => {
    const files = fluxFailures.flatMap(({ name, files = {} }) =>
      Object.entries(files).map(([path, file]) => [
        `${name}/${path}`,
        typeof file === 'string' ? file : JSON.stringify(file),
      ]),
    );
    const repository = await git.createRepository('failures', Object.fromEntries(files));
    await stage.setFluxConfig({ repositoryUrl: repository.httpUrl, repositoryBranch: 'main' });
    await stage.reconcileShoot();
    await stage.untilReady();
    const fieldManager = 'test';
    for (const { name, spec } of fluxFailures) {
      const sourceRef = { kind: 'GitRepository', name: name === 'no-source' ? 'other' : 'main-gitrepo' };
      const whole = { interval: '1h', retryInterval: '5s', path: `./${name}`, prune: false, sourceRef, ...spec };
      await stage.shoot.create(kustomizations, kustomizationFactory(name, whole), { fieldManager });
    }
    for (const { name, reason, explanation } of fluxFailures) {
      const origin = { from: 'providerConfig', isReleased: true } as const;
      const explained = (live: KubeObject | undefined) => {
        const state = live && readiness(live);
        return live && state?.state !== 'current' && state !== undefined
          ? explain(live, state.message, origin)
          : undefined;
      };
      const live = await eventually(
        `${name} is reported as ${reason}`,
        () => stage.shoot.find(kustomizations, inFlux(name)),
        (object) => explained(object)?.reason === reason,
        (object) => object?.status,
        90,
      );
      const { message = '' } = explained(live) ?? {};
      const quotation = 'Flux says: |\\(The original message is withheld because it may contain Secret data\\.\\)$';
      expect(message).toMatch(new RegExp(`^Kustomization flux-system/${name}: [^;]+; .*(?:${quotation})`));
      expect(message).toContain(explanation);
      expect(message).not.toContain('s3cr3t');
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

/** Substitutes like Flux. */
const variable = (expression: string) => `\${${expression}}`;

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();

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
function podinfo(version: string, annotations: Record<string, string> = {}): Record<string, string> {
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
      metadata: { name: 'podinfo', annotations },
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
