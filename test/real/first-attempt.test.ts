import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { RECONCILE_AT } from '../../shared/config/project-config.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { documented, example, exampleWith } from '../integration/documents.ts';
import { eventually, inFlux, inProject } from '../scenarios/stage.ts';
import { listen } from './cluster/ports.ts';
import { onRealApis, useGitServer } from './on-real-apis.ts';
import { aroundEachFluxStage, dataOf, type FluxStage } from './sync/flux-stage.ts';
import { startGitHub } from './sync/github.ts';
import { fluxKinds } from './sync/kinds.ts';
import { startPrivateRegistry } from './sync/private-registry.ts';
import { ageKey, encrypted, pgpKey } from './sync/sops.ts';

/** Substitutes like Flux. */
const variable = (name: string) => `\${${name}}`;
const configMap = (name: string, data: Record<string, string>, namespace?: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });

const SOPS = 'docs/howto/sops.md';
const encrypt = documented(SOPS, 'sops encrypt --in-place secret.yaml');
const makePgpKey = [
  documented(SOPS, 'gpg --batch --passphrase "" --quick-generate-key my-project default default never'),
  documented(SOPS, 'gpg --armor --export-secret-keys my-project > project.asc'),
];
const sopsRules = exampleWith(SOPS, 'creation_rules');
const ofPage = (page: string, kind: string) => parse(example(page, kind));

onRealApis('with the real controllers of Flux', (ground) => {
  const git = useGitServer();
  let flux: FluxStage;

  aroundEachFluxStage(ground, (next) => {
    flux = next;
  });

  const untilReady = (kind: Resource, name: string) =>
    eventually(
      `${kind.kind} ${name} is Ready`,
      () => flux.stage.shoot.find(kind, inFlux(name)),
      (found) => readyOf(found)?.status === 'True',
      (found) => found?.status,
    ).catch(async (error) => {
      throw new Error(`${error.message}\n${(await flux.attempts.failed()).join('\n')}`);
    });
  const passwordOf = async (name: string) =>
    dataOf(await flux.untilApplied(resources.secrets, name, (live) => dataOf(live, 'password') !== ''), 'password');
  const untilDeleted = (name: { namespace: string; name: string }) =>
    eventually(
      `Secret ${name.name} is gone`,
      () => flux.stage.shoot.find(resources.secrets, name),
      (live) => live === undefined,
    );
  /** Returns the line of a deploy key that the project reads. */
  const keyNamed = async (name: string) => {
    const annotation = `flux.extensions.gardener.cloud/${name}`;
    const find = async () => (await flux.stage.garden.find(resources.secrets, inProject('flux-source')))?.metadata;
    const metadata = await eventually(name, find, (live) => live?.annotations?.[annotation] !== undefined);
    return metadata?.annotations?.[annotation] ?? '';
  };
  const expectNothingSaid = async (...secrets: string[]) => {
    const said = flux.stage.logLines.join('') + JSON.stringify(await flux.stage.extension());
    for (const word of secrets) expect(said).not.toContain(word);
  };

  it('SSH, OCI, SOPS, variables, a chain, Helm releases, images and an alert are Ready on the first attempt, and follow rotations at once', async () => {
    await using registry = await startPrivateRegistry();
    await using sink = await startEventSink();
    const [age, next] = [ageKey(), ageKey()];
    await using pgp = await pgpKey(makePgpKey, 'project.asc');
    const rulesFor = (key: string) => sopsRules.replace(/age: age1\w+/, key);
    const withAge = { command: encrypt, rules: rulesFor(`age: ${age.recipient}`) };
    const withNext = { command: encrypt, rules: rulesFor(`age: ${next.recipient}`) };
    const withPgp = { command: encrypt, rules: rulesFor(`pgp: ${pgp.fingerprint}`), env: pgp.env };
    const repository = await git().createRepository('fleet', {
      'root/secret.yaml': await encrypted(withAge, 'credentials', { password: 'open sesame' }),
      'root/pgp.yaml': await encrypted(withPgp, 'of-pgp', { password: 'third sesame' }),
      'root/settings.yaml': configMap('settings', { team: variable('team'), shoot: variable('SHOOT_NAME') }),
      'apps/app.yaml': configMap('app', { from: 'git' }),
    });
    await registry.pushArtifact('fleet/manifests:v1', {
      'secret.yaml': await encrypted(withAge, 'base', { password: 'second sesame' }),
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
      ...{ repositoryUrl: repository.sshUrl, repositoryBranch: 'main', repositoryType: 'private' },
      ...{ repositoryPath: './root', kustomizationTargetNamespace: 'default', knownHosts: git().knownHosts },
      ...{ repositoryInterval: '1h', kustomizationInterval: '1h' },
      'config.yaml': stringify(wholeConfiguration(registry.host)),
    });
    // As a person adds the generated key.
    const formerKey = await keyNamed('public-key');
    git().addDeployKey(repository.name, formerKey);
    await flux.put('flux-sops', { 'age.agekey': age.identity, 'project.asc': pgp.privateKey });
    await flux.put('flux-variables', { team: 'blue' });
    await flux.put('flux-registry', { '.dockerconfigjson': registry.dockerConfig }, 'kubernetes.io/dockerconfigjson');

    await flux.stage.reconcileShoot({ spec });
    await flux.stage.untilReady();
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    await untilReady(fluxKinds.kustomizations, 'apps');
    await untilReady(fluxKinds.helmReleases, 'first');
    await untilReady(fluxKinds.helmReleases, 'second');
    await untilReady(fluxKinds.imagePolicies, 'manifests');
    await flux.untilData('settings', { team: 'blue', shoot: 'bar' });
    await flux.untilData('base-settings', { team: 'blue' });
    await flux.untilData('app', { from: 'git' });
    await flux.untilData('chart-first', { color: 'teal' });
    await flux.untilData('chart-second', { color: 'plum' });
    const policy = await flux.stage.shoot.find(fluxKinds.imagePolicies, inFlux('manifests'));
    expect(policy?.status).toMatchObject({ latestRef: { name: `${registry.host}/fleet/manifests`, tag: 'v1' } });
    expect(await passwordOf('credentials')).toBe('open sesame');
    expect(await passwordOf('base')).toBe('second sesame');
    expect(await passwordOf('of-pgp')).toBe('third sesame');
    await flux.untilTrue('ObjectsReady');
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
    await flux.untilData('settings', { team: 'green' });
    await flux.untilData('app', { from: 'a commit' });
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

    // The former key is refused from now on, so the commit arrives only with the new one.
    await flux.stage.annotateFluxConfig({ 'gardener.cloud/operation': 'rotate-ssh-keypair-start' });
    git().addDeployKey(repository.name, await keyNamed('next-public-key'));
    git().removeDeployKey(repository.name, formerKey);
    await repository.commit({ 'root/key.yaml': configMap('deploy-key', { a: 'b' }) }, 'For another deploy key');
    await flux.stage.annotateFluxConfig({ 'gardener.cloud/operation': 'rotate-ssh-keypair-complete' });
    await flux.untilData('deploy-key', { a: 'b' });

    const forNext = await encrypted(withNext, 'next', { password: 'next sesame' });
    await repository.commit({ 'root/next.yaml': forNext }, 'For another key of SOPS');
    const keys = { 'age.agekey': age.identity, 'next.agekey': next.identity, 'project.asc': pgp.privateKey };
    await flux.put('flux-sops', keys);
    expect(await passwordOf('next')).toBe('next sesame');

    await repository.commit({ 'root/shoot.yaml': configMap('of-the-shoot', { a: 'b' }) }, 'On request of the Shoot');
    await flux.stage.reconcileShoot({ spec, metadata: { annotations: { [RECONCILE_AT]: 'once more' } } });
    await flux.untilData('of-the-shoot', { a: 'b' });

    // Nothing is encrypted any more, so the project deletes its key.
    const encryptedFiles = ['root/secret.yaml', 'root/pgp.yaml', 'root/next.yaml'].map((path) => [path, null] as const);
    await repository.commit(Object.fromEntries(encryptedFiles), 'Plain');
    await registry.pushArtifact('fleet/manifests:v1', { 'base.yaml': configMap('base-settings', { team: 'plain' }) });
    await flux.stage.annotateFluxConfig({ [RECONCILE_AT]: 'now' });
    await flux.untilData('base-settings', { team: 'plain' });
    await untilDeleted({ namespace: 'default', name: 'credentials' });
    await flux.stage.garden.delete(resources.secrets, inProject('flux-sops'));
    await untilDeleted(inFlux('flux-sops'));
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    await untilReady(fluxKinds.kustomizations, 'base');
    expect(await flux.attempts.failed()).toEqual([]);
    expect([...flux.attempts.waits]).toContain('Kustomization flux-system/apps: DependencyNotReady');
    await expectNothingSaid(age.identity, next.identity, 'sesame', registry.password);
  });

  it('a repository of a GitHub App is Ready on the first attempt', async () => {
    const { httpUrl, name } = await git().createRepository('app', { 'a.yaml': configMap('app', { a: 'b' }) });
    await using github = await startGitHub(new URL(httpUrl).origin);
    const page = 'docs/howto/github-app.md';
    const { githubAppBaseURL, ...keys } = github.app;
    expect(Object.keys(ofPage(page, 'Secret').stringData)).toEqual(Object.keys(keys));
    await flux.put('flux-source', { ...github.app, 'ca.crt': github.ca });
    const repositoryUrl = `https://${github.host}/${name}.git`;
    const kustomizationTargetNamespace = 'default';
    await flux.stage.setFluxConfig({ ...ofPage(page, 'ConfigMap').data, repositoryUrl, kustomizationTargetNamespace });
    await flux.stage.reconcileShoot();
    await flux.stage.untilReady();
    await untilReady(fluxKinds.kustomizations, 'main-ks');
    await flux.untilData('app', { a: 'b' });
    expect(await flux.attempts.failed()).toEqual([]);
    expect(github.issued()).toBe(1);
    await expectNothingSaid(github.app.githubAppPrivateKey?.split('\n')[3] ?? '');
  });

  it('the manifests and the chart of docs/howto/oci.md are Ready on the first attempt', async () => {
    const page = 'docs/howto/oci.md';
    await using registry = await startPrivateRegistry();
    await registry.pushArtifact('fleet/manifests:production', {
      'settings.yaml': configMap('settings', { a: 'b' }, 'default'),
    });
    await registry.pushChart('charts', {
      'Chart.yaml': stringify({ apiVersion: 'v2', name: 'ingress', version: '4.1.0' }),
      'templates/settings.yaml': configMap('ingress', { a: 'b' }),
    });
    const { stage, attempts } = flux;
    const authority = { name: 'registry-ca' };
    const ca = await flux.putResource(authority.name, { 'ca.crt': registry.ca });
    const { type, stringData } = ofPage(page, 'Secret');
    const { auths } = JSON.parse(stringData['.dockerconfigjson']);
    const login = Object.values(JSON.parse(registry.dockerConfig).auths)[0];
    expect(Object.keys(auths['registry.example.com'])).toEqual(Object.keys(login as object));
    await flux.put('flux-registry', { '.dockerconfigjson': registry.dockerConfig }, type);
    // For a registry with a certificate of its own, as the page says below the configuration.
    const { objects, ...rest } = parse(ofPage(page, 'ConfigMap').data['config.yaml']);
    rest.source.template.spec.certSecretRef = authority;
    const [chart, ...others] = objects;
    chart.spec.certSecretRef = authority;
    const whole = { ...rest, additionalSecretResources: [authority], objects: [chart, ...others] };
    await stage.setFluxConfig({ 'config.yaml': stringify(whole).replaceAll('registry.example.com', registry.host) });
    await stage.reconcileShoot({ spec: { resources: [ca] } });
    await stage.untilReady();
    await flux.untilTrue('KustomizationReady');
    await flux.untilTrue('ObjectsReady');
    await flux.untilData('settings', { a: 'b' });
    expect(await stage.shoot.find(resources.configMaps, { namespace: 'ingress', name: 'ingress' })).toBeDefined();
    expect(await attempts.failed()).toEqual([]);
  });

  it('a pipeline that was written for v1beta1 comes up in order, without the fields that newer APIs dropped, which a warning names, and stays when the extension leaves with Flux', async () => {
    const istio = await git().createRepository('istio', {
      'profiles/default/namespace.yaml': namespace('istio-system'),
      'profiles/default/istiod.yaml': deployment('istiod', 'istio-system'),
    });
    const webapp = await git().createRepository('webapp', {
      'common/namespace.yaml': namespace('webapp'),
      'backend/deployment.yaml': deployment('backend', 'webapp'),
      'frontend/deployment.yaml': deployment('frontend', 'webapp'),
      // Of the repository, not ours.
      'frontend/nested.yaml': JSON.stringify(nested),
      'nested/nested.yaml': configMap('nested', {}, 'webapp'),
    });
    const text = (await readFile(join(import.meta.dirname, 'sync/pipeline.yaml'), 'utf8'))
      .replace('https://git.example.com/istio', istio.httpUrl)
      .replace('https://git.example.com/webapp', webapp.httpUrl);
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    const { stage, attempts } = flux;
    await stage.setFluxConfig({ 'config.yaml': stringify({ syncMode: 'Reconcile', objects }) });
    await stage.reconcileShoot();
    await stage.untilReady();
    await flux.untilTrue('ObjectsReady');

    const kustomizations = attempts.ready.filter((name) => name.startsWith('Kustomization flux-system/'));
    const steps = ['istio', 'webapp-common', 'webapp-backend', 'webapp-frontend'];
    expect(kustomizations).toEqual(steps.map((name) => `Kustomization flux-system/${name}`));
    const deployed = () =>
      Promise.all([
        stage.shoot.find(resources.deployments, { namespace: 'istio-system', name: 'istiod' }),
        stage.shoot.find(resources.deployments, { namespace: 'webapp', name: 'backend' }),
        stage.shoot.find(resources.deployments, { namespace: 'webapp', name: 'frontend' }),
        stage.shoot.find(resources.configMaps, { namespace: 'webapp', name: 'nested' }),
      ]);
    const before = await eventually('all is deployed', deployed, (all) => !all.includes(undefined));
    expect(await attempts.failed()).toEqual([]);

    const paths = [2, 3, 4, 5].map((index) => `objects[${index}].spec.validation is left out`);
    const { warnings = [] } = (await stage.extension()).status?.providerStatus ?? {};
    expect(warnings).toEqual(paths.map((path) => expect.stringContaining(path)));
    const said = (await stage.events('ConfigurationWarning')).map(({ message }) => message);
    expect(said).toEqual([warnings.map((warning) => `${warning}.`).join(' ')]);

    await stage.leave();
    const crd = { name: 'kustomizations.kustomize.toolkit.fluxcd.io' };
    expect(await stage.shoot.find(resources.customResourceDefinitions, crd)).toBeUndefined();
    const after = (await deployed()).map((live) => live?.metadata);
    expect(after.map((metadata) => metadata?.uid)).toEqual(before.map((live) => live?.metadata.uid));
    expect(after.filter((metadata) => metadata?.deletionTimestamp !== undefined)).toEqual([]);
  });
});

function readyOf(object: KubeObject | undefined): { status: string } | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type }) => type === 'Ready');
}

/** A Kustomization that would prune what it has applied if it were deleted unsuspended. */
const nested = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { namespace: 'webapp', name: 'nested' },
  spec: {
    ...{ interval: '5m', path: './nested', prune: true },
    sourceRef: { kind: 'GitRepository', name: 'webapp', namespace: 'flux-system' },
  },
};

const namespace = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

function deployment(name: string, namespace: string): string {
  const labels = { app: name };
  const containers = [{ name, image: `registry.example.com/${name}:1` }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec });
}

const HOUR = { interval: '1h' };
const CA = { certSecretRef: { name: 'registry-ca' } };

/** What `config.yaml` says beside the private repository of `flux-config`: one object of each kind that works together. */
function wholeConfiguration(registry: string): object {
  return {
    flux: { componentsExtra: ['image-reflector-controller'] },
    additionalSecretResources: [{ name: 'registry-ca' }, { name: 'chart-values' }, { name: 'events' }],
    objects: [
      object('Alert', 'all', {
        providerRef: { name: 'sink' },
        eventSources: [
          { kind: 'Kustomization', name: '*' },
          { kind: 'HelmRelease', name: '*' },
        ],
      }),
      object('Provider', 'sink', { type: 'generic', secretRef: { name: 'events' } }),
      // Waits for the base, which waits for the root.
      object('Kustomization', 'apps', {
        ...{ ...HOUR, path: './apps', prune: true, wait: true, targetNamespace: 'default' },
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' },
        dependsOn: [{ name: 'base' }],
      }),
      object('Kustomization', 'base', {
        ...{ ...HOUR, path: './', prune: true, wait: true, targetNamespace: 'default' },
        sourceRef: { kind: 'OCIRepository', name: 'manifests' },
        dependsOn: [{ name: 'main-ks' }],
      }),
      object('OCIRepository', 'manifests', {
        ...{ ...HOUR, ...CA, url: `oci://${registry}/fleet/manifests`, ref: { tag: 'v1' } },
      }),
      object('HelmRepository', 'charts', { ...HOUR, ...CA, type: 'oci', url: `oci://${registry}/charts` }),
      object('HelmRelease', 'first', {
        ...{ ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' },
        chart: {
          spec: { chart: 'first', version: '1.x', sourceRef: { kind: 'HelmRepository', name: 'charts' } },
        },
        valuesFrom: [{ kind: 'Secret', name: 'chart-values' }],
      }),
      object('OCIRepository', 'second-chart', {
        ...{ ...HOUR, ...CA, url: `oci://${registry}/charts/second`, ref: { semver: '1.x' } },
        layerSelector: { mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', operation: 'copy' },
      }),
      object('HelmRelease', 'second', {
        ...{ ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' },
        chartRef: { kind: 'OCIRepository', name: 'second-chart' },
        values: { color: 'plum' },
        dependsOn: [{ name: 'first' }],
      }),
      object('ImageRepository', 'manifests', { ...HOUR, ...CA, image: `${registry}/fleet/manifests` }),
      object('ImagePolicy', 'manifests', {
        imageRepositoryRef: { name: 'manifests' },
        policy: { alphabetical: {} },
      }),
    ],
  };
}

function object(kind: string, name: string, spec: object): object {
  return { kind, metadata: { name }, spec };
}

/** A service that receives the events of alerts, as the notification-controller sends them to a Provider `generic`. */
async function startEventSink() {
  const events: { involvedObject: { name: string }; reason: string; severity: string }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    events.push(JSON.parse(text));
    response.end();
  });
  const listening = await listen(server);
  return { ...listening, url: `http://${listening.host}/`, events: () => events };
}
