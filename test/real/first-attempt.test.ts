import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { documented, example, exampleWith } from '../integration/documents.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually, PROJECT } from '../scenarios/stage.ts';
import { ageKey } from './age-key.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { encrypted } from './sync/encrypt.ts';
import { startEventSink } from './sync/event-sink.ts';
import { type FluxStage, startFluxStage } from './sync/flux-stage.ts';
import { startGitHub } from './sync/github.ts';
import { fluxKinds } from './sync/kinds.ts';
import { pgpKey } from './sync/pgp-key.ts';
import { startPrivateRegistry } from './sync/private-registry.ts';
import { wholeConfiguration } from './sync/whole-configuration.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inDefault = (name: string) => ({ namespace: 'default', name });
const dataOf = (secret: KubeObject | undefined, key: string) =>
  Buffer.from((secret?.data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString();
/** Substitutes like Flux. */
const variable = (name: string) => `\${${name}}`;
const configMap = (name: string, data: Record<string, string>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

const encrypt = documented('docs/howto/sops.md', 'sops encrypt --in-place secret.yaml');
const makePgpKey = [
  documented('docs/howto/sops.md', 'gpg --batch --passphrase "" --quick-generate-key my-project default default never'),
  documented('docs/howto/sops.md', 'gpg --armor --export-secret-keys my-project > project.asc'),
];
const sopsRules = exampleWith('docs/howto/sops.md', 'creation_rules');
const ofPage = (page: string, kind: string) => parse(example(page, kind));

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('with the real controllers of Flux', () => {
  let apis: RealApis;
  let git: GitServer;
  let flux: FluxStage;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  const start = async () => {
    flux = await startFluxStage(apis, fluxDistribution ?? '');
  };

  afterEach(async () => {
    await flux?.[Symbol.asyncDispose]();
  });

  /** Adds the generated key to a repository, as a person would. */
  const addDeployKey = async (repository: string) => {
    const source = await eventually(
      'the deploy key',
      () => flux.stage.garden.find(resources.secrets, { namespace: PROJECT, name: 'flux-source' }),
      (live) => live !== undefined,
    );
    git.addDeployKey(repository, dataOf(source, 'identity.pub'));
  };
  const untilReady = (kind: Resource, name: string) =>
    eventually(
      `${kind.kind} ${name} is Ready`,
      () => flux.stage.shoot.find(kind, inFlux(name)),
      (found) => readyOf(found)?.status === 'True',
      (found) => found?.status,
      90,
    ).catch(async (error) => {
      throw new Error(`${error.message}\n${(await flux.attempts.failed()).join('\n')}`);
    });
  const contentOf = async (name: string) =>
    (await flux.stage.shoot.find(resources.configMaps, inDefault(name)))?.data as Record<string, string> | undefined;
  const expectNothingSaid = async (...secrets: string[]) => {
    const said = flux.stage.logLines.join('') + JSON.stringify(await flux.stage.extension());
    for (const word of secrets) expect(said).not.toContain(word);
  };

  it('SSH, OCI, SOPS, variables, a chain, Helm releases, images and an alert are Ready on the first attempt', async () => {
    await start();
    await using registry = await startPrivateRegistry();
    await using sink = await startEventSink();
    const { identity, recipient } = ageKey();
    await using pgp = await pgpKey(makePgpKey, 'project.asc');
    const encryption = { command: encrypt, rules: sopsRules.replace(/age1\w+/, recipient) };
    const withPgp = {
      command: encrypt,
      rules: sopsRules.replace(/age: age1\w+/, `pgp: ${pgp.fingerprint}`),
      env: pgp.env,
    };
    const repository = await git.createRepository('fleet', {
      'root/secret.yaml': await encrypted(encryption, 'credentials', { password: 'open sesame' }),
      'root/pgp.yaml': await encrypted(withPgp, 'of-pgp', { password: 'third sesame' }),
      'root/settings.yaml': configMap('settings', { team: variable('team'), shoot: variable('SHOOT_NAME') }),
      'apps/app.yaml': configMap('app', { from: 'git' }),
    });
    await registry.pushArtifact('fleet/manifests:v1', {
      'secret.yaml': await encrypted(encryption, 'base', { password: 'second sesame' }),
      'base.yaml': configMap('base-settings', { team: variable('team') }),
    });
    for (const name of ['first', 'second']) {
      await registry.pushChart('charts', {
        'Chart.yaml': stringify({ apiVersion: 'v2', name, version: '1.2.3' }),
        'templates/settings.yaml': configMap(`chart-${name}`, { color: '{{ .Values.color }}' }),
      });
    }
    const spec = {
      resources: [
        await flux.putResource('registry-ca', { 'ca.crt': registry.ca }),
        await flux.putResource('chart-values', { 'values.yaml': 'color: teal' }),
        await flux.putResource('events', { address: sink.url }),
      ],
    };
    await flux.stage.setFluxConfig({
      repositoryUrl: repository.sshUrl,
      repositoryBranch: 'main',
      repositoryType: 'private',
      repositoryPath: './root',
      knownHosts: git.knownHosts,
      repositoryInterval: '1h',
      kustomizationInterval: '1h',
      'config.yaml': stringify(wholeConfiguration(registry.host)),
    });
    await addDeployKey(repository.name);
    await flux.put('flux-sops', { 'age.agekey': identity, 'project.asc': pgp.privateKey });
    await flux.put('flux-variables', { team: 'blue' });
    await flux.put('flux-registry', { '.dockerconfigjson': registry.dockerConfig }, 'kubernetes.io/dockerconfigjson');

    await flux.stage.reconcileShoot({ spec });
    await flux.stage.untilReady();
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    await untilReady(fluxKinds.kustomizations, 'apps');
    await untilReady(fluxKinds.helmReleases, 'first');
    await untilReady(fluxKinds.helmReleases, 'second');
    await untilReady(fluxKinds.imagePolicies, 'manifests');
    expect(await contentOf('settings')).toEqual({ team: 'blue', shoot: 'bar' });
    expect(await contentOf('base-settings')).toEqual({ team: 'blue' });
    expect(await contentOf('app')).toEqual({ from: 'git' });
    expect(await contentOf('chart-first')).toEqual({ color: 'teal' });
    expect(await contentOf('chart-second')).toEqual({ color: 'plum' });
    const policy = await flux.stage.shoot.find(fluxKinds.imagePolicies, inFlux('manifests'));
    expect(policy?.status).toMatchObject({ latestRef: { name: `${registry.host}/fleet/manifests`, tag: 'v1' } });
    const secret = (name: string) => flux.stage.shoot.find(resources.secrets, inDefault(name));
    expect(dataOf(await secret('credentials'), 'password')).toBe('open sesame');
    expect(dataOf(await secret('base'), 'password')).toBe('second sesame');
    expect(dataOf(await secret('of-pgp'), 'password')).toBe('third sesame');
    const condition = await eventually(
      'all objects are Ready',
      async () => (await flux.stage.extension()).status?.conditions?.find(({ type }) => type === 'ObjectsReady'),
      (found) => found?.status === 'True',
    );
    expect(condition?.message).toBeDefined();
    expect(await flux.attempts.failed()).toEqual([]);

    await eventually(
      'the alerts of the first attempts',
      async () => sink.events(),
      (events) =>
        ['apps', 'second'].every((name) =>
          events.some(({ involvedObject, severity }) => involvedObject.name === name && severity === 'info'),
        ),
      (events) => events.map(({ involvedObject, reason }) => `${involvedObject.name}: ${reason}`),
    );

    // Intervals of an hour: only the label of the copies and our requests can be faster.
    await repository.commit({ 'apps/app.yaml': configMap('app', { from: 'a commit' }) }, 'A change');
    await flux.put('flux-variables', { team: 'green' });
    await eventually(
      'the rotated variable',
      () => contentOf('settings'),
      (data) => data?.team === 'green',
    );
    await eventually(
      'the commit',
      () => contentOf('app'),
      (data) => data?.from === 'a commit',
    );
    for (const [kind, name] of [
      [fluxKinds.gitRepositories, 'main-gitrepo'],
      [fluxKinds.helmRepositories, 'charts'],
      [fluxKinds.helmReleases, 'first'],
    ] as const) {
      await eventually(
        `${name} is asked`,
        () => flux.stage.shoot.find(kind, inFlux(name)),
        (found) => found?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'] !== undefined,
      );
    }
    // Nothing is encrypted any more, so the project deletes its key.
    await repository.commit({ 'root/secret.yaml': null, 'root/pgp.yaml': null }, 'Plain');
    await registry.pushArtifact('fleet/manifests:v1', { 'base.yaml': configMap('base-settings', { team: 'plain' }) });
    await flux.stage.garden.mergePatch(
      resources.configMaps,
      { namespace: PROJECT, name: 'flux-config' },
      { metadata: { annotations: { 'flux.extensions.gardener.cloud/reconcile-at': 'now' } } },
      { fieldManager: 'person' },
    );
    await eventually(
      'the plain artifact',
      () => contentOf('base-settings'),
      (data) => data?.team === 'plain',
    );
    await eventually(
      'the Secret is gone',
      () => secret('credentials'),
      (live) => live === undefined,
    );
    await flux.stage.garden.delete(resources.secrets, { namespace: PROJECT, name: 'flux-sops' });
    await eventually(
      'its copy is gone',
      () => flux.stage.shoot.find(resources.secrets, inFlux('flux-sops')),
      (live) => live === undefined,
    );
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    await untilReady(fluxKinds.kustomizations, 'base');
    expect(await flux.attempts.failed()).toEqual([]);
    expect([...flux.attempts.waits]).toContain('Kustomization flux-system/apps: DependencyNotReady');
    await expectNothingSaid(identity, 'sesame', registry.password);
  });

  it('a repository of a GitHub App is Ready on the first attempt', async () => {
    await start();
    const { httpUrl, name } = await git.createRepository('app', {
      'a.yaml': configMap('app', { a: 'b' }),
    });
    await using github = await startGitHub(new URL(httpUrl).origin);
    const page = 'docs/howto/github-app.md';
    const { githubAppBaseURL, ...keys } = github.app;
    expect(Object.keys(ofPage(page, 'Secret').stringData)).toEqual(Object.keys(keys));
    await flux.put('flux-source', { ...github.app, 'ca.crt': github.ca });
    const repositoryUrl = `https://${github.host}/${name}.git`;
    await flux.stage.setFluxConfig({ ...ofPage(page, 'ConfigMap').data, repositoryUrl });
    await flux.stage.reconcileShoot();
    await flux.stage.untilReady();
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    expect(await contentOf('app')).toEqual({ a: 'b' });
    expect(await flux.attempts.failed()).toEqual([]);
    expect(github.issued()).toBe(1);
    // The list of failures is empty because there is none, not because nothing is seen.
    await flux.stage.shoot.mergePatch(
      fluxKinds.gitRepositories,
      inFlux('main-gitrepo'),
      { spec: { ref: { branch: 'none' } } },
      { fieldManager: 'person' },
    );
    await eventually('a failure', flux.attempts.failed, (failed) => failed.length > 1);
    await expectNothingSaid(github.app.githubAppPrivateKey?.split('\n')[3] ?? '');
  });
});

function readyOf(object: KubeObject | undefined): { status: string } | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type }) => type === 'Ready');
}
