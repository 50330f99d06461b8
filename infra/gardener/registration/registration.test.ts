import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findAllDefinitions } from '../../functions.ts';
import { chartArchive } from './chart-archive.ts';
import { digestsIn, gardenRoles, operatorExtension, registrationFiles, registrationObjects } from './registration.ts';

const definitions = await findAllDefinitions();
const release = { version: '1.2.3', registry: 'registry.example.com/gardener' };
const image = { repository: 'registry.example.com/gardener/shoot-flux', tag: '1.2.3' };

describe('the rights of installations in the garden', () => {
  const roles = gardenRoles(definitions);

  it('are those of the definitions, and of no function that runs beside the garden', () => {
    for (const { name, rights } of definitions) {
      const role = roles.find(({ metadata }) => metadata.name.endsWith(`:installation:${name}`));
      expect(role?.rules ?? []).toEqual(['admission', 'push-webhook'].includes(name) ? [] : rights.garden);
    }
    const watcher = roles.find(({ metadata }) => metadata.name.endsWith(':watcher'));
    expect(JSON.stringify(watcher?.rules)).toContain('flux-config');
    expect(JSON.stringify(roles)).not.toContain('webhookconfigurations');
  });

  it('are a role for members of projects as well, whose account gardener-controller-manager does not select', () => {
    for (const { metadata } of roles) {
      expect(metadata.labels).toHaveProperty(['rbac.gardener.cloud/aggregate-to-extension-role'], 'shoot-flux');
      const selector = metadata.annotations?.['authorization.gardener.cloud/extensions-serviceaccount-selector'];
      const { matchLabels } = JSON.parse(selector ?? '{}') as { matchLabels: Record<string, string> };
      const policy = registrationObjects(definitions, release).find(
        (object) => object.kind === 'ValidatingAdmissionPolicy' && object.metadata.name.endsWith('-accounts'),
      );
      const [label = ''] = Object.entries(matchLabels).map((pair) => pair.join('='));
      expect(JSON.stringify(policy?.spec)).toContain(label);
    }
  });

  it('include a policy for the Secrets that their ServiceAccounts create', () => {
    const [policy] = registrationObjects(definitions, release).filter(
      ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.endsWith('-secrets'),
    );
    const text = JSON.stringify(policy?.spec);
    const pattern = new RegExp(/matches\('([^']+)'\)/.exec(text)?.[1] ?? 'none');
    const accounts = (...names: string[]) => names.map((name) => `system:serviceaccount:${name}`);
    const ours = accounts(
      ...['seed-my-seed:shoot-flux', 'seed-my-seed:extension-shoot-flux-x7k2p'],
      ...['garden:extension-shoot--root--shoot-flux', 'garden-foo:extension-shoot--a-b--shoot-flux'],
    );
    for (const account of ours) expect(account).toMatch(pattern);
    const others = accounts(
      ...['seed-my-seed:extension-other-x7k2p', 'seed-my-seed:shoot-flux-2', 'seed-my-seed:default'],
      ...['garden-foo:extension-shoot-flux-x7k2p', 'garden-foo:shoot-flux', 'gardener:shoot-flux'],
      ...['garden:extension-shoot--root--other-x7k2p', 'kube-system:extension-shoot--root--shoot-flux'],
    );
    for (const account of others) expect(account).not.toMatch(pattern);
  });
});

describe('registration', () => {
  const find = (kind: string, chart?: Buffer) =>
    registrationObjects(definitions, release, chart).find((object) => object.kind === kind);

  it('states the lifecycle below the resource, and that Shoots need workers', () => {
    const spec = find('ControllerRegistration')?.spec as { resources: object[] } | undefined;
    const [resource] = spec?.resources ?? [];
    expect(resource).toEqual({
      kind: 'Extension',
      type: 'shoot-flux',
      lifecycle: { reconcile: 'AfterKubeAPIServer', delete: 'BeforeKubeAPIServer', migrate: 'BeforeKubeAPIServer' },
      workerlessSupported: false,
    });
    expect((operatorExtension(release).spec as { resources: object[] }).resources).toEqual([resource]);
  });

  it('lets gardenlet enforce the restricted Pod Security Standard in the namespace of each installation', () => {
    for (const object of [find('ControllerRegistration'), operatorExtension(release)])
      expect(object?.metadata).toEqual({
        name: 'shoot-flux',
        annotations: { 'security.gardener.cloud/pod-security-enforce': 'restricted' },
      });
  });

  it('refers to the chart and the image of a release, or contains the chart', () => {
    const ref = 'registry.example.com/gardener/charts/shoot-flux:1.2.3';
    const values = { image };
    expect(find('ControllerDeployment')).toMatchObject({
      apiVersion: 'core.gardener.cloud/v1',
      helm: { ociRepository: { ref }, values },
      injectGardenKubeconfig: true,
    });
    expect(find('ControllerDeployment', Buffer.from('chart'))?.helm).toEqual({ rawChart: 'Y2hhcnQ=', values });
  });

  it('names image and charts by digest where the digests are known, beside their tags', () => {
    const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`;
    const names = [
      'shoot-flux',
      'charts/shoot-flux',
      ...['runtime', 'application'].map((part) => `charts/shoot-flux-admission-${part}`),
    ];
    const digests = digestsIn(
      names.map((name, index) => `${release.registry}/${name}@${digestOf(`${index}`)}\n`).join(''),
    );
    const helm = (name: string, digit: string) => ({
      helm: { ociRepository: { ref: `${release.registry}/charts/${name}:1.2.3@${digestOf(digit)}` } },
    });
    const values = { image: { ...image, digest: digestOf('0') } };
    const published = { ...release, digests };
    const deployment = registrationObjects(definitions, published).find(({ kind }) => kind === 'ControllerDeployment');
    expect(deployment).toMatchObject({ ...helm('shoot-flux', '1'), ...{ helm: { values } } });
    expect(operatorExtension(published).spec).toMatchObject({
      deployment: {
        extension: { ...helm('shoot-flux', '1'), values },
        admission: {
          runtimeCluster: helm('shoot-flux-admission-runtime', '2'),
          virtualCluster: helm('shoot-flux-admission-application', '3'),
          values,
        },
      },
    });
  });

  it('names no digest of the release beside a tag of the operator', () => {
    const digests = digestsIn(`${image.repository}@sha256:${'0'.repeat(64)}`);
    const given = { ...release, digests, values: { image: { tag: 'patched' } } };
    const [deployment] = registrationObjects(definitions, given, Buffer.from('chart')).filter(
      ({ kind }) => kind === 'ControllerDeployment',
    );
    expect(deployment?.helm).toMatchObject({ values: { image: { repository: image.repository, tag: 'patched' } } });
    expect(JSON.stringify(deployment)).not.toContain('sha256:');
  });

  it('has the values of the operator for the chart of seeds, beside the image of the release', () => {
    const given = { ...release, values: { replicaCount: 2, image: { pullPolicy: 'Always' } } };
    const values = { replicaCount: 2, image: { ...image, pullPolicy: 'Always' } };
    const deployment = registrationObjects(definitions, given).find(({ kind }) => kind === 'ControllerDeployment');
    expect(deployment?.helm).toMatchObject({ values });
    expect(operatorExtension(given).spec).toMatchObject({
      deployment: { extension: { values }, admission: { values: { image: { ...image, pullPolicy: 'Always' } } } },
    });
  });

  it('gives admission the same image and what it needs to judge by the same rules', () => {
    const common = {
      imagePullSecrets: [{ name: 'mirror' }],
      imageVectorOverwrite: 'images: []',
      defaults: { pullSecret: {} },
      policy: { requireMultiTenancy: true },
    };
    const inFile = { policy: { allowedVersions: ['2.9.x'] } };
    const values = { ...common, replicaCount: 1, config: { ...inFile, shootHealth: true } };
    expect(operatorExtension({ ...release, values }).spec).toMatchObject({
      deployment: { extension: { values } },
    });
    const { deployment } = operatorExtension({ ...release, values }).spec as {
      deployment: { admission: { values: object } };
    };
    expect(deployment.admission.values).toEqual({ ...common, image, config: inFile });
  });
});

it('quotes values of the operator that kubectl would read as something else', async () => {
  const { 'controller-registration.yaml': text } = await registrationFiles({
    ...release,
    values: { config: { hostKeyScan: 'off' } },
  });
  expect(text).toContain('hostKeyScan: "off"');
});

it('a packed chart has the version of the release, and the same bytes each time', async () => {
  const folder = fileURLToPath(new URL('../../../charts/shoot-flux-admission', import.meta.url));
  const [first, second] = await Promise.all([chartArchive(folder, '1.2.3'), chartArchive(folder, '1.2.3')]);
  expect(first.name).toBe('shoot-flux-admission');
  expect(first.archive.equals(second.archive)).toBe(true);
  const text = gunzipSync(first.archive).toString('latin1');
  expect(text).toContain('shoot-flux-admission/charts/runtime/templates/_shared.tpl');
  expect([...text.matchAll(/^\s*(?:version|appVersion): (.*)$/gm)].map(([, version]) => version)).toEqual(
    Array(8).fill('1.2.3'),
  );
});

it('a packed chart names the image of its release for Artifact Hub', async () => {
  const folder = fileURLToPath(new URL('../../../charts/shoot-flux', import.meta.url));
  const { archive } = await chartArchive(folder, '1.2.3', release.registry);
  const text = gunzipSync(archive).toString('latin1');
  expect(text).toContain(
    `annotations:\n  artifacthub.io/images: |\n    - name: shoot-flux\n      image: ${image.repository}:1.2.3\n`,
  );
});
