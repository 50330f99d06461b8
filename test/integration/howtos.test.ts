import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { serveRelease } from '../../infra/cli/release-testing.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { SUSPENDED } from '../../shared/config/project-config.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { PROJECT, startFleet } from '../scenarios/rollout/fleet.ts';
import { documented, example, examples, exampleWith, root } from './documents.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'howtos-'));
  const standIn = join(standInDistribution.folder, standInDistribution.version);
  await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const write = async (path: string, text: string) => {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
};

/** Runs a command beside the files. npm and kubectl start programs of this checkout. */
async function run(command: string): Promise<{ code: number; out: string }> {
  const line = command
    .replace(/npm run (--silent )?shoot-flux --/, `node ${join(root, 'infra/cli/shoot-flux.js')}`)
    .replace('kubectl', `node ${join(import.meta.dirname, 'kubectl.ts')}`)
    .replace('garden-my-project', PROJECT);
  const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd: folder, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out: out + err }),
    );
  });
}

test('the README downloads a Flux release', async () => {
  await using releases = await serveRelease({}, { version: 'v2.9.4' });
  await rm(join(folder, 'distribution'), { recursive: true });
  const { code, out } = await run(`${documented('README.md', '--from-release')} --release-url ${releases.url}`);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('v2.9.4: verified and created with ') });
});

describe('upgrades of Flux', () => {
  const validate = documented('docs/howto/flux-upgrades.md', 'validate');
  const deleteObjects = documented('docs/howto/flux-upgrades.md', 'delete helmreleases');
  const deleteKinds = documented('docs/howto/flux-upgrades.md', 'delete customresourcedefinitions');

  test('the page shows what an upgrade changes', async () => {
    await write('flux-config.yaml', example('README.md', 'ConfigMap'));
    const { code, out } = await run(validate);
    expect(code).toBe(0);
    const warnings = out.trimEnd().split('\n');
    expect(warnings.length).toBeGreaterThan(2);
    for (const warning of warnings) expect(warning).toMatch(/^warning: From Flux v2\.9\.0 on .+; .+\.$/);
  });

  test('the commands delete the objects of one component in all namespaces, and its kinds', async () => {
    const { files } = await openDistribution(standInDistribution.folder).release(standInDistribution.version);
    const crds = [...files.values()].flat().filter(isCrd);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } };
    const shoot = await startCluster([...crds, namespace]);
    const release = {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: { namespace: 'apps', name: 'podinfo' },
      spec: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } } },
    } as KubeObject;
    await shoot.client.create(helmReleases, release, { fieldManager: 'person' });
    await write('my-shoot.kubeconfig', shoot.kubeconfig);
    expect(await run(deleteObjects)).toMatchObject({ code: 0 });
    expect(await shoot.client.find(helmReleases, release.metadata)).toBeUndefined();
    expect(await run(deleteKinds)).toMatchObject({ code: 0 });
    const { items } = await shoot.client.list(resources.customResourceDefinitions);
    const names = crds.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('helmreleases'));
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(names.sort());
    await shoot.stop();
  });
});

describe('many Shoots', () => {
  const PAGE = 'docs/howto/many-shoots.md';
  const validate = documented('docs/howto/many-shoots.md', 'validate');
  const keep = documented('docs/howto/many-shoots.md', '> before.yaml');
  const compare = documented('docs/howto/many-shoots.md', '--diff before.yaml');

  test('the page leads from a fleet to a compared edit, and a Shoot without the label fails the check', async () => {
    const configMap = example(PAGE, 'ConfigMap');
    await write('flux-config.yaml', configMap);
    await write('shoots/dev.yaml', example(PAGE, 'Shoot'));
    const unselected =
      'warning: ConfigMap garden-my-project/flux-config: overrides.yaml[1].selector selects no Shoot of the fleet; correct it, unless Shoots get such labels later\n';
    expect(await run(validate)).toEqual({ code: 0, out: `dev.yaml (dev): ok\n${unselected}` });
    expect(await run(keep)).toEqual({ code: 0, out: '' });
    expect(await readFile(join(folder, 'before.yaml'), 'utf8')).toContain('path: ./clusters/dev/dev');
    await write('flux-config.yaml', configMap.replace('interval: 1m', 'interval: 2m'));
    const compared = await run(compare);
    expect(compared.code).toBe(0);
    expect(compared.out).toMatch(
      /^~ Kustomization flux-system\/main-ks\n {4}spec\.interval: "1m" -> "2m"\n0 added, 1 changed, 0 removed, \d+ equal\n$/,
    );

    await write('shoots/other.yaml', example(PAGE, 'Shoot').replace('stage: dev', 'team: blue'));
    const { code, out } = await run(validate);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^dev\.yaml \(dev\): ok\nother\.yaml \(dev\): ConfigMap .* the Shoot has no value for the label "stage"/,
    );
  });

  test('the overrides and the label for incidents do what the page says', () => {
    const { data } = parse(example(PAGE, 'ConfigMap'));
    const fluxConfig = { namespace: 'garden-my-project', data };
    const configOf = (labels: Record<string, string>) =>
      effectiveConfig({ fluxConfig, shoot: { labels, facts: { SHOOT_NAME: 'my-shoot' } } });
    expect(configOf({ stage: 'prod' })).toMatchObject({
      suspend: false,
      flux: { logLevel: 'info' },
      kustomization: { spec: { timeout: '5m', interval: '5m', path: './clusters/prod/my-shoot', prune: true } },
    });
    expect(configOf({ stage: 'dev' })).toMatchObject({
      flux: { logLevel: 'debug' },
      kustomization: { spec: { interval: '1m' } },
    });
    expect(configOf({ stage: 'dev', frozen: '' })).toMatchObject({ suspend: true });
  });
});

describe('pull requests', () => {
  const PAGE = 'docs/howto/pull-requests.md';
  const validate = documented('docs/howto/pull-requests.md', 'validate');

  test('the hook and the command check the project of the page, and find a mistake', async () => {
    const configMap = example(PAGE, 'ConfigMap');
    await write('flux-config.yaml', configMap);
    await write('shoots/dev.yaml', example('docs/howto/many-shoots.md', 'Shoot'));
    const [{ hooks }] = parse(exampleWith(PAGE, 'repos')).repos;
    const known = parse(await readFile(join(root, '.pre-commit-hooks.yaml'), 'utf8'));
    const { entry } = known.find(({ id }: { id: string }) => id === hooks[0].id);
    const hook = [join(root, entry), ...hooks[0].args].join(' ');
    for (const command of [validate, hook])
      expect(await run(command)).toEqual({ code: 0, out: 'dev.yaml (dev): ok\n' });
    await write('flux-config.yaml', configMap.replace('repositoryBranch', 'repositorybranch'));
    for (const command of [validate, hook])
      expect(await run(command)).toEqual({ code: 1, out: expect.stringContaining('did you mean repositoryBranch?') });
  });
});

describe('Secrets', () => {
  const OCI = 'docs/howto/oci.md';
  // It needs nothing in flux-config.
  const SOPS = 'docs/howto/sops.md';
  const validate = documented('docs/howto/sops.md', 'validate');
  const render = documented('docs/howto/oci.md', 'render');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString().trim().replaceAll('\n', '\n    ');
  /** The Secret of a page, with a private key in place of the words that stand for it. */
  const secretOf = (page: string) =>
    example(page, 'Secret').replace(/-----BEGIN RSA PRIVATE KEY-----.*-----END RSA PRIVATE KEY-----/s, pem);
  const place = async (page: string, secrets = secretOf(page)) => {
    await write('flux-config.yaml', example(page === SOPS ? 'docs/first-shoot.md' : page, 'ConfigMap'));
    await write('secrets.yaml', secrets);
  };

  test.each([
    [SOPS, 'AGE-SECRET-KEY-', 'age1', 'has no line AGE-SECRET-KEY-… in "project.agekey"'],
    [OCI, 'kubernetes.io/dockerconfigjson', 'Opaque', 'flux-registry'],
    ['docs/howto/github-app.md', '"12345678"', '"org"', 'githubAppInstallationID is not a number'],
  ])(
    '%s: its manifests are complete, and the check finds a mistake without printing the Secret',
    async (page, right, wrong, sentence) => {
      await place(page);
      expect(await run(validate)).toEqual({ code: 0, out: '' });
      await place(page, secretOf(page).replace(right, wrong));
      const { code, out } = await run(validate);
      expect(code).toBe(1);
      expect(out).toContain(sentence);
      expect(out).not.toMatch(/replace.this/i);
    },
  );

  test('the credentials of the registry wire themselves, as the page says', async () => {
    await place(OCI);
    const { code, out } = await run(render);
    expect(code).toBe(0);
    expect(out).toMatch(/kind: OCIRepository\n(?:.*\n)*? {2}secretRef:\n {4}name: flux-registry\n/);
    expect(out).toMatch(/imagePullSecrets:\n *- name: flux-registry\n/);
    expect(out).not.toContain('replace-this');
  });
});

describe('addons by name', () => {
  const PAGE = 'docs/howto/addons.md';
  const validate = documented('docs/howto/addons.md', 'validate');
  const render = documented('docs/howto/addons.md', 'render');

  test('the page shows what a Shoot gets, and a project without a right gets none of it', async () => {
    await write('landscape.yaml', exampleWith(PAGE, 'addons'));
    await write('flux-config.yaml', example(PAGE, 'ConfigMap'));
    expect(await run(validate)).toEqual({ code: 0, out: '' });
    const { out } = await run(render);
    const comments = out.match(/^# addon .*\n.*\nkind: .*$/gm) ?? [];
    const listed = (name: string, index: number, kind: string, api: string) =>
      `# addon ${name}, listed at config.yaml.addons[${index}] of ConfigMap ${PROJECT}/flux-config\napiVersion: ${api}\nkind: ${kind}`;
    expect(comments.map((text) => text.replace('garden-my-project', PROJECT))).toEqual([
      listed('cert-manager', 0, 'OCIRepository', 'source.toolkit.fluxcd.io/v1'),
      listed('minio', 1, 'OCIRepository', 'source.toolkit.fluxcd.io/v1'),
      listed('cert-manager', 0, 'HelmRelease', 'helm.toolkit.fluxcd.io/v2'),
      listed('minio', 1, 'HelmRelease', 'helm.toolkit.fluxcd.io/v2'),
    ]);
    expect(out).toContain('\n    persistence:\n      size: 100Gi\n');

    await write('flux-config.yaml', example(PAGE, 'ConfigMap').replace('garden-my-project', 'garden-other'));
    expect(await run(validate)).toEqual({
      code: 1,
      out: 'ConfigMap garden-other/flux-config: config.yaml.addons[1] "minio" is not allowed for project other in this landscape; use cert-manager, or remove it\n',
    });
  });
});

describe('without a stored credential', () => {
  const PAGE = 'docs/howto/keyless.md';
  const validate = documented('docs/howto/keyless.md', 'validate --flux-distribution ./distribution --flux-config');
  const render = documented('docs/howto/keyless.md', 'render');
  const ofShoot = documented('docs/howto/keyless.md', '--shoot shoot.yaml');
  const objectsIn = (out: string) => parseAllDocuments(out).map((document): KubeObject => document.toJS());
  const named = (out: string, wanted: string, name: string) =>
    objectsIn(out).find(({ kind, metadata }) => kind === wanted && metadata.name === name);

  test("objects sign in as the accounts of the Shoot's own issuer", async () => {
    await write('flux-config.yaml', example(PAGE, 'ConfigMap'));
    expect(await run(validate)).toEqual({ code: 0, out: '' });
    const { out } = await run(render);
    const account = named(out, 'ServiceAccount', 'kustomize-controller');
    expect(account?.metadata.annotations).toHaveProperty(['eks.amazonaws.com/role-arn'], expect.stringMatching(/kms$/));
    const controller = named(out, 'Deployment', 'source-controller');
    expect(JSON.stringify(controller)).toContain('"--feature-gates=ObjectLevelWorkloadIdentity=true"');
    const [source] = objectsIn(out).filter(({ kind }) => kind === 'OCIRepository');
    expect(source?.spec).toMatchObject({ provider: 'aws', serviceAccountName: 'source-controller' });
    const [root] = objectsIn(out).filter(({ kind }) => kind === 'Kustomization');
    expect(root?.spec).toMatchObject({ decryption: { serviceAccountName: 'kustomize-controller' } });
    expect(out).not.toMatch(/secretRef|kind: Secret/);
  });

  test('a controller signs in with the token of a WorkloadIdentity', async () => {
    await write('shoot.yaml', example(PAGE, 'Shoot'));
    expect(await run(ofShoot)).toEqual({ code: 0, out: '' });
    const { out } = await run(ofShoot.replace('validate', 'render'));
    expect(out).toContain(
      'Secret flux-system/flux-cloud: a token of the WorkloadIdentity that is the resource "cloud"',
    );
    for (const name of ['source-controller', 'kustomize-controller']) {
      expect(JSON.stringify(named(out, 'Deployment', name))).toContain('"secret":{"secretName":"flux-cloud"}');
    }
  });
});

describe('from Git', () => {
  const PAGE = 'docs/howto/from-git.md';
  const validate = documented('docs/howto/from-git.md', 'validate');

  test('the flux-config of the page passes the check, and keeps annotations that kubectl has set', async () => {
    await write('projects/my-project.yaml', example(PAGE, 'ConfigMap'));
    expect(await run(validate)).toEqual({ code: 0, out: '' });
    const { annotations } = parse(example(PAGE, 'ConfigMap')).metadata;
    expect(annotations).toEqual({ 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' });
  });

  test('a cluster with Flux stores its objects as they are, and they refer to each other', async () => {
    const distribution = openDistribution((await testDistribution()) ?? standInDistribution.folder);
    const { files } = await distribution.release((await distribution.versions())[0] ?? '');
    const namespaces = ['flux-system', 'garden'].map((name) => ({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    }));
    const cluster = await startCluster([...[...files.values()].flat().filter(isCrd), ...namespaces]);
    const objects = examples(PAGE).filter(({ apiVersion }) => apiVersion.includes('.toolkit.fluxcd.io/'));
    for (const object of objects) {
      const resource = object.kind === 'Kustomization' ? kustomizations : gitRepositories;
      // Fields that the CRD does not know are gone.
      expect(await cluster.client.create(resource, object, { fieldManager: 'person' })).toMatchObject(object);
    }
    const [source, registration, projects, kit] = objects;
    expect(kit?.spec).toMatchObject({ prune: false, healthCheckExprs: [{ kind: 'Extension' }] });
    for (const one of [registration, projects])
      expect(one?.spec).toMatchObject({ prune: false, sourceRef: { kind: source?.kind, name: source?.metadata.name } });
    expect(projects?.spec).toMatchObject({ dependsOn: [{ name: registration?.metadata.name }] });
    await cluster.stop();
  });
});

describe('waves', () => {
  const PAGE = 'docs/howto/waves.md';
  const show = documented('docs/howto/waves.md', 'get configmap');
  const proceed = documented('docs/howto/waves.md', 'annotate');

  test('the page leads from the first wave to a paused rollout that continues', async () => {
    const shoots = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const labels = (shoot: string) => ({ stage: shoot === 's7' ? '1' : '2' });
    await using fleet = await startFleet({ shoots, labels });
    await write('kubeconfig', fleet.kubeconfig());
    const { data } = parse(example(PAGE, 'ConfigMap'));
    fleet.edit(data);
    await fleet.settle();
    fleet.verdict = (_, branch) => (branch === 'next' ? 'bad' : 'ready');
    fleet.edit({ ...data, repositoryBranch: 'next' });
    await fleet.settle(100);
    // One of 20 may fail: the first one alone, and then two at the same time.
    const paused = (await run(show)).out;
    expect(paused).toMatch(/^Revision [0-9a-f]{12} is paused, because more than 1 failed: /);
    expect(fleet.state()?.failed.has('s7')).toBe(true);
    expect(fleet.state()?.failed.size).toBe(3);

    const [, token = ''] = /continue=(\S+) on flux-config/.exec(paused) ?? [];
    fleet.verdict = () => 'ready';
    await run(proceed.replace('4f2a81c09b7e.11', token));
    fleet.follow();
    await fleet.settle(1000);
    expect(new Set(fleet.branches().values())).toEqual(new Set(['next']));
    for (const shoot of fleet.state()?.failed ?? []) fleet.wake(shoot);
    await fleet.settle();
    expect((await run(show)).out).toMatch(/ has ended: 20 done, 0 in progress, 0 waiting, 0 failed\.$/);
  });
});

describe('changes of operators in waves', () => {
  const PAGE = 'docs/howto/landscape-rollout.md';
  const show = documented('docs/howto/landscape-rollout.md', 'get configmap');
  const suspend = documented('docs/howto/landscape-rollout.md', 'suspended=');
  const proceed = documented('docs/howto/landscape-rollout.md', 'continue=');
  const abort = documented('docs/howto/landscape-rollout.md', 'abort=');
  const forget = documented('docs/howto/landscape-rollout.md', 'patch configmap');

  test('the page leads from a pause to a rollout that continues and is aborted', async () => {
    const shoots = ['s0', 's1', 's2', 's3', 's4', 's5'];
    const labels = (shoot: string): Record<string, string> => (shoot === 's5' ? {} : { stage: 'canary' });
    await using fleet = await startFleet({ shoots, labels });
    await write('kubeconfig', fleet.kubeconfig());
    const { rollout } = readLandscape(parse(exampleWith(PAGE, 'rollout')));
    fleet.given = () => ({ rollout });
    fleet.edit({
      repositoryUrl: 'https://git.example.com/fleet',
      repositoryType: 'public',
      syncMode: 'Reconcile',
      repositoryBranch: 'main',
    });
    await fleet.settle();
    const changed = () => shoots.filter((shoot) => JSON.stringify(fleet.controllers(shoot)).includes('debug'));
    await run(suspend);
    fleet.given = () => ({ rollout, defaults: { flux: { logLevel: 'debug' } } });
    fleet.restart();
    await fleet.pass(500);
    expect(changed()).toEqual([]);
    fleet.annotate({ [SUSPENDED]: null });
    fleet.verdict = (shoot) => (changed().includes(shoot) ? 'bad' : 'ready');
    await fleet.pass(500);
    const paused = (await run(show)).out;
    expect(paused).toMatch(/^Revision [0-9a-f]{12} is paused, because more than 2 failed: /);
    const [, revision = '', token = ''] = /continue=(\w+)(\S+) on ConfigMap/.exec(paused) ?? [];
    await run(proceed.replace('4f2a81c09b7e.3', revision + token));
    fleet.annotate({});
    await fleet.pass(100);
    expect((await run(show)).out).toMatch(/ is under way: /);
    await run(abort.replace('4f2a81c09b7e', revision));
    fleet.annotate({});
    await fleet.pass(1000);
    expect(changed()).toEqual([]);
    expect(await run(forget)).toMatchObject({ code: 0 });
    expect(fleet.landscape()).toEqual({});
  });
});

test('docs/howto/ipv6.md: the warning names what is on ghcr.io, and is gone with the configuration of the page', async () => {
  const page = 'docs/howto/ipv6.md';
  const validate = documented('docs/howto/ipv6.md', 'validate');
  const configMap = parse(example(page, 'ConfigMap')) as { data: Record<string, string> };
  await write('shoot.yaml', example(page, 'Shoot'));
  await write('flux-config.yaml', JSON.stringify({ ...configMap, data: { ...configMap.data, registry: undefined } }));
  const { code, out } = await run(validate);
  expect(code).toBe(0);
  expect(out).toMatch(/^warning: configuration: flux\.registry "ghcr\.io\/fluxcd" is on ghcr\.io, [^\n]+\n$/);
  await write('flux-config.yaml', example(page, 'ConfigMap'));
  expect(await run(validate)).toEqual({ code: 0, out: '' });
});
