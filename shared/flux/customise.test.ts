import { describe, expect, it, test } from 'vitest';
import type { FluxInstall } from '../config/types.ts';
import { customised } from './customise.ts';
import { installObjects } from './install.ts';
import { fluxInstall, standInRelease } from './testing.ts';

/**
 * test/real/options.test.ts compares these options, drawn at random, with what kustomize makes of patches that mean the
 * same.
 */
const release = await standInRelease();

function install(changes: Partial<FluxInstall>) {
  const options = fluxInstall(changes);
  return customised(installObjects(release, options), { install: options, version: release.version, origins: {} });
}

const named = (changes: Partial<FluxInstall>, kind: string, name: string) =>
  install(changes).find((object) => object.kind === kind && object.metadata.name === name);

interface Pod {
  containers: { args?: string[]; env?: { name: string }[]; resources?: object; image?: string }[];
}

const podOf = (changes: Partial<FluxInstall>, name: string): Pod => {
  const deployment = named(changes, 'Deployment', name);
  return (deployment as unknown as { spec: { template: { spec: Pod } } }).spec.template.spec;
};

test('without these options nothing changes', () => {
  expect(install({})).toStrictEqual(installObjects(release, fluxInstall()));
});

test.each([
  ['small', '5', '10s', { cpu: '1000m', memory: '512Mi' }],
  ['medium', '10', '5s', { cpu: '2000m', memory: '1Gi' }],
  ['large', '20', '5s', { cpu: '3000m', memory: '3Gi' }],
] as const)('size %s', (size, concurrent, requeue, limits) => {
  for (const name of ['source-controller', 'kustomize-controller', 'helm-controller']) {
    const [controller] = podOf({ size }, name).containers;
    expect(controller?.args).toEqual(
      expect.arrayContaining([`--concurrent=${concurrent}`, `--requeue-dependency=${requeue}`]),
    );
    expect(controller?.resources).toMatchObject({ limits });
  }
  expect(podOf({ size }, 'source-controller').containers[0]?.args).toContain('--helm-cache-max-size=10');
  expect(podOf({ size }, 'notification-controller')).toEqual(podOf({}, 'notification-controller'));
});

describe('the proxy', () => {
  const env = (proxy: FluxInstall['proxy']) =>
    (podOf({ proxy }, 'source-controller').containers[0]?.env ?? []).filter(({ name }) => name.endsWith('PROXY'));
  const own = 'localhost,127.0.0.1,.svc,.cluster.local,.cluster.local.,$(KUBERNETES_SERVICE_HOST)';

  it('is in the environment of every controller', () => {
    expect(env({ https: 'http://proxy:3128', noProxy: '.example.com' })).toEqual([
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
      { name: 'NO_PROXY', value: `${own},.example.com` },
    ]);
  });

  it('comes from a Secret, which may lack one of the keys', () => {
    const from = (key: string) => ({ secretKeyRef: { name: 'proxy', key, optional: true } });
    expect(env({ secretName: 'proxy' })).toEqual([
      { name: 'HTTP_PROXY', valueFrom: from('HTTP_PROXY') },
      { name: 'HTTPS_PROXY', valueFrom: from('HTTPS_PROXY') },
      { name: 'NO_PROXY', value: own },
    ]);
  });
});

test('storage gives source-controller a claim', () => {
  const storage = { class: 'fast', size: '10Gi' };
  expect(named({ storage }, 'PersistentVolumeClaim', 'source-controller')).toMatchObject({
    metadata: { namespace: 'flux-system', labels: { 'app.kubernetes.io/part-of': 'flux' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '10Gi' } } },
  });
});

test('shards select their objects, and the main controllers all others', () => {
  const changes = { sharding: { shards: ['one', 'two', 'one'] }, size: 'small' as const };
  const names = install(changes).flatMap(({ kind, metadata }) => (kind === 'Deployment' ? [metadata.name] : []));
  expect(names).toEqual([
    ...['source-controller', 'source-controller-one', 'source-controller-two'],
    ...['kustomize-controller', 'kustomize-controller-one', 'kustomize-controller-two'],
    ...['helm-controller', 'helm-controller-one', 'helm-controller-two'],
    'notification-controller',
  ]);
  const args = (name: string) => podOf(changes, name).containers[0]?.args;
  expect(args('source-controller')).toContain('--watch-label-selector=!sharding.fluxcd.io/key');
  expect(args('source-controller-one')).toEqual(
    expect.arrayContaining([
      '--watch-label-selector=sharding.fluxcd.io/key=one',
      '--storage-adv-addr=source-controller-one.$(RUNTIME_NAMESPACE).svc.cluster.local.',
      '--concurrent=5',
    ]),
  );
  expect(named(changes, 'Service', 'source-controller-two')?.spec).toMatchObject({
    selector: { app: 'source-controller-two' },
  });
});

test('placement and common metadata', () => {
  const changes: Partial<FluxInstall> = {
    nodeSelector: { pool: 'infra' },
    priorityClass: 'high',
    commonMetadata: { labels: { team: 'a' }, annotations: { contact: 'b' } },
  };
  expect(podOf(changes, 'helm-controller')).toMatchObject({
    nodeSelector: { 'kubernetes.io/os': 'linux', pool: 'infra' },
    priorityClassName: 'high',
  });
  for (const { metadata } of install(changes)) {
    expect(metadata).toMatchObject({
      labels: { team: 'a', 'app.kubernetes.io/version': release.version },
      annotations: { contact: 'b' },
    });
  }
});

describe('image digests', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const pinned = { ...release, imageDigests: { 'source-controller': digest } };
  const imageOf = (of: typeof release, changes: Partial<FluxInstall>) =>
    installObjects(of, fluxInstall({ components: ['source-controller'], ...changes }))
      .filter(({ kind }) => kind === 'Deployment')
      .map(
        ({ spec }) =>
          (spec as { template: { spec: { containers: { image: string }[] } } }).template.spec.containers[0]?.image,
      );

  it.each([
    [undefined, true],
    ['Auto', true],
    ['Always', true],
    ['Never', false],
  ] as const)('%s', (imageDigests, isPinned) => {
    const registry = 'registry.example.com/mirror';
    const images = imageOf(pinned, { registry, ...(imageDigests && { imageDigests }) });
    expect(images).toEqual([
      expect.stringMatching(
        isPinned ? /^registry.example.com\/mirror\/source-controller:[\w.-]+@sha256:a+$/ : /source-controller:[\w.-]+$/,
      ),
    ]);
  });

  it('Always is refused where the distribution does not know a digest', () => {
    expect(() => imageOf(release, { imageDigests: 'Always' })).toThrow(
      `flux.imageDigests "Always" requires a digest for each image, but Flux ${release.version} in the distribution has none for source-controller; use Auto, or ask the operators of this landscape to add them with "distribution make --digests"`,
    );
  });
});
