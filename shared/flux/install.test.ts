import { describe, expect, it, test } from 'vitest';
import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import { customised } from './customise.ts';
import { withFlags } from './deployment.ts';
import { installObjects, rolesFor } from './install.ts';
import type { Release } from './release.ts';
import { fluxInstall, object, standInRelease } from './testing.ts';

const release = await standInRelease();

function install(changes: Partial<FluxInstall> = {}, of: Release = release): KubeObject[] {
  return installObjects(of, fluxInstall(changes));
}

function deployment(name: string, objects: KubeObject[]) {
  const found = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  return found?.spec as { template: { metadata: unknown; spec: { containers: { args: string[]; image: string }[] } } };
}

function args(name: string, changes: Partial<FluxInstall>, of: Release = release): string[] | undefined {
  return deployment(name, install(changes, of))?.template.spec.containers[0]?.args;
}

test('returns Namespace, policies, RBAC, then the components in their order', () => {
  const components = ['kustomize-controller', 'source-controller'];
  expect(install({ components }).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Namespace flux-system',
    'NetworkPolicy allow-egress',
    'ResourceQuota critical-pods-flux-system',
    'ClusterRole crd-controller-flux-system',
    'ClusterRoleBinding cluster-reconciler-flux-system',
    'ClusterRoleBinding crd-controller-flux-system',
    'CustomResourceDefinition kustomizations.kustomize.toolkit.fluxcd.io',
    'ServiceAccount kustomize-controller',
    'Deployment kustomize-controller',
    'CustomResourceDefinition buckets.source.toolkit.fluxcd.io',
    'CustomResourceDefinition gitrepositories.source.toolkit.fluxcd.io',
    'CustomResourceDefinition ocirepositories.source.toolkit.fluxcd.io',
    'ServiceAccount source-controller',
    'Service source-controller',
    'Deployment source-controller',
  ]);
});

test('puts namespaced objects into the namespace and labels all objects', () => {
  for (const { kind, metadata } of install({ namespace: 'gitops' })) {
    const clusterScoped = ['Namespace', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding'];
    expect(metadata.namespace).toBe(clusterScoped.includes(kind) ? undefined : 'gitops');
    expect(metadata.labels).toMatchObject({
      'app.kubernetes.io/instance': 'gitops',
      'app.kubernetes.io/version': 'v2.9.99',
      'app.kubernetes.io/part-of': 'flux',
    });
  }
});

test('omits network policies on request', () => {
  const kinds = (networkPolicy: boolean) => new Set(install({ networkPolicy }).map(({ kind }) => kind));
  expect(kinds(true)).toContain('NetworkPolicy');
  expect(kinds(false)).not.toContain('NetworkPolicy');
});

test('sets labels, node selector, pull secret, tolerations and image registry of pods', () => {
  const changes = { registry: 'registry.example/flux', imagePullSecret: 'pull', tolerationKeys: ['a', 'b'] };
  const { template } = deployment('helm-controller', install(changes));
  expect(template).toMatchObject({
    metadata: { labels: { app: 'helm-controller', 'app.kubernetes.io/version': 'v2.9.99' } },
    spec: {
      containers: [{ image: 'registry.example/flux/helm-controller:stand-in' }],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      imagePullSecrets: [{ name: 'pull' }],
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
    },
  });
  const plain = deployment('helm-controller', install()).template.spec;
  expect(Object.keys(plain)).not.toContain('imagePullSecrets');
  expect(Object.keys(plain)).not.toContain('tolerations');
});

test('sets the flags of controllers', () => {
  const changes = { watchAllNamespaces: false, logLevel: 'debug', clusterDomain: 'c.example' } as const;
  expect(args('source-controller', changes)).toEqual([
    '--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.c.example./',
    '--watch-all-namespaces=false',
    '--log-level=debug',
    '--log-encoding=json',
    '--enable-leader-election',
    '--storage-path=/data',
    '--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.c.example.',
  ]);
  expect(args('notification-controller', changes)).toEqual([
    ...['--watch-all-namespaces=false', '--log-level=debug', '--log-encoding=json', '--enable-leader-election'],
  ]);
});

test('sends no events without notification-controller, and enables the feature gate for source-watcher', () => {
  const watcher = release.files
    .get('source-controller')
    ?.map((source) => ({ ...source, metadata: { name: 'source-watcher' } }));
  const withWatcher = { ...release, files: new Map(release.files).set('source-watcher', watcher ?? []) };
  const components = ['kustomize-controller', 'helm-controller', 'source-controller', 'source-watcher'];
  const last = (name: string) => args(name, { components }, withWatcher)?.at(-1);
  expect(args('kustomize-controller', { components }, withWatcher)?.[0]).toBe('--events-addr=');
  expect(last('kustomize-controller')).toBe('--feature-gates=ExternalArtifact=true');
  expect(last('helm-controller')).toBe('--feature-gates=ExternalArtifact=true');
  expect(last('source-watcher')).toBe('--storage-adv-addr=source-watcher.$(RUNTIME_NAMESPACE).svc.cluster.local.');
});

test('lists the components of the release if one is missing', () => {
  expect(() => install({ components: ['source-controller', 'source-watcher'] })).toThrow(
    'configuration: flux.components "source-watcher" is not a component of Flux v2.9.99 (its components are ' +
      'helm-controller, kustomize-controller, notification-controller, source-controller); ' +
      'remove it or use another release',
  );
  expect(() => install({ components: ['rbac'] })).toThrow('"rbac" is not a component of');
});

test('names the field in which the user lists a missing component', () => {
  const origins = { 'flux.components[source-watcher]': { object: 'providerConfig', path: 'flux.componentsExtra[2]' } };
  expect(() => installObjects(release, fluxInstall({ components: ['source-watcher'] }), origins)).toThrow(
    'providerConfig: flux.componentsExtra[2] "source-watcher" is not a component of Flux v2.9.99',
  );
});

test('does not modify the release', () => {
  const before = JSON.stringify([...release.files]);
  install({ namespace: 'gitops', imagePullSecret: 'pull', tolerationKeys: ['a'] });
  expect(JSON.stringify([...release.files])).toBe(before);
});

test('changes flags in their position, appends missing ones, and keeps those without a new value', () => {
  const args = ['--log-encoding=json', '--watch-all-namespaces', '--log-level-more=1', '--events-addr=x'];
  const flags = { 'events-addr': undefined, 'watch-all-namespaces': 'false', 'log-level': 'info' };
  const changed = ['--log-encoding=json', '--watch-all-namespaces=false', '--log-level-more=1', '--events-addr=x'];
  expect(withFlags(args, flags)).toEqual([...changed, '--log-level=info']);
});

test('multiTenancy sets the flags of the lockdown on the controllers that have them', () => {
  const components = ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'];
  const flags = (name: string) =>
    (args(name, { components, multiTenancy: true }) ?? []).filter(
      (arg) => !(args(name, { components }) ?? []).includes(arg),
    );
  expect(flags('source-controller')).toEqual([]);
  expect(flags('kustomize-controller')).toEqual([
    '--no-cross-namespace-refs=true',
    '--no-remote-bases=true',
    '--default-service-account=default',
  ]);
  expect(flags('helm-controller')).toEqual(['--no-cross-namespace-refs=true', '--default-service-account=default']);
  expect(flags('notification-controller')).toEqual(['--no-cross-namespace-refs=true']);
});

describe('keyless', () => {
  const components = [...['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller']];
  const added = (name: string, changes: Partial<FluxInstall>) =>
    (args(name, { components, ...changes }) ?? []).filter((arg) => !(args(name, { components }) ?? []).includes(arg));
  const GATE = '--feature-gates=ObjectLevelWorkloadIdentity=true';

  it('objects may sign in as accounts of their own', () => {
    for (const name of components) expect(added(name, { objectLevelWorkloadIdentity: true })).toEqual([GATE]);
  });

  it('with multiTenancy, none signs in as a controller', () => {
    const tenants = { multiTenancy: true, objectLevelWorkloadIdentity: true } as const;
    expect(added('source-controller', tenants)).toEqual(['--default-service-account=default', GATE]);
    const accounts = {
      ...{ tenantDefaultServiceAccount: 'tenant', tenantDefaultDecryptionServiceAccount: 'kms' },
      tenantDefaultKubeConfigServiceAccount: 'remote',
    };
    const flags = (name: string) => added(name, { ...tenants, ...accounts }).filter((flag) => flag.includes('account'));
    expect(flags('kustomize-controller')).toEqual([
      '--default-service-account=tenant',
      '--default-decryption-service-account=kms',
      '--default-kubeconfig-service-account=remote',
    ]);
    expect(flags('helm-controller')).toEqual([
      '--default-service-account=tenant',
      '--default-kubeconfig-service-account=remote',
    ]);
    expect(flags('notification-controller')).toEqual(['--default-service-account=tenant']);
  });

  it('source-watcher does not know the gate', () => {
    const watcher = release.files
      .get('source-controller')
      ?.map((source) => ({ ...source, metadata: { name: 'source-watcher' } }));
    const withWatcher = { ...release, files: new Map(release.files).set('source-watcher', watcher ?? []) };
    const all = { components: [...components, 'source-watcher'], objectLevelWorkloadIdentity: true };
    const last = (name: string) => args(name, all, withWatcher)?.at(-1);
    expect(last('source-watcher')).not.toContain('feature-gates');
    expect(last('helm-controller')).toBe('--feature-gates=ExternalArtifact=true,ObjectLevelWorkloadIdentity=true');
  });

  it('feature gates reach their controller, and cannot take away what an option needs', () => {
    const featureGates = { 'helm-controller': 'OOMWatch=true,ObjectLevelWorkloadIdentity=false' };
    expect(added('helm-controller', { featureGates })).toEqual([`--feature-gates=${featureGates['helm-controller']}`]);
    expect(added('source-controller', { featureGates })).toEqual([]);
    expect(added('helm-controller', { featureGates, objectLevelWorkloadIdentity: true })).toEqual([
      `--feature-gates=${featureGates['helm-controller']},ObjectLevelWorkloadIdentity=true`,
    ]);
  });

  it('the controllers with references to Secrets and ConfigMaps watch all of them', () => {
    const watching = components.filter((name) =>
      added(name, { watchConfigs: true }).includes('--watch-configs-label-selector=owner!=helm'),
    );
    expect(watching).toEqual(components.slice(1));
  });

  it('is an error where the controllers do not know the flags', () => {
    const former = { ...release, version: 'v2.6.4' };
    const changes = { objectLevelWorkloadIdentity: true, watchConfigs: true };
    const origins = { flux: { object: 'providerConfig', path: 'flux' } };
    expect(() => installObjects(former, fluxInstall(changes), origins)).toThrow(
      'providerConfig: flux.objectLevelWorkloadIdentity needs Flux v2.7.0 or newer, but version resolves to v2.6.4; use a newer release, or remove it; providerConfig: flux.watchConfigs needs Flux v2.7.0',
    );
    expect(installObjects(former, fluxInstall({ objectLevelWorkloadIdentity: false }))).not.toEqual([]);
  });
});

test('puts both pull secrets on every Deployment, the own one first', () => {
  const names = (changes: Partial<FluxInstall>) =>
    install(changes).flatMap(({ kind, metadata }, _, all) =>
      kind === 'Deployment' ? [deployment(metadata.name, all).template.spec] : [],
    );
  const both = [{ name: 'own' }, { name: 'landscape' }];
  for (const spec of names({ imagePullSecret: 'own', landscapePullSecret: 'landscape' }))
    expect(spec).toMatchObject({ imagePullSecrets: both });
  const one = { landscapePullSecret: 'same' };
  for (const spec of [one, { ...one, imagePullSecret: 'same' }].flatMap(names))
    expect(spec).toMatchObject({ imagePullSecrets: [{ name: 'same' }] });
});

const role = object('ClusterRole', 'crd-controller');
const binding = (name: string) =>
  object('ClusterRoleBinding', `bind-${name}`, {
    roleRef: { kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'source-controller', namespace: 'flux-system' }],
  });

test('roles and subjects are those of the namespace, and roles of others keep their names', () => {
  const subjects = [{ name: 'source-controller', namespace: 'gitops' }];
  expect(rolesFor([role, binding('crd-controller'), binding('cluster-admin')], 'gitops')).toMatchObject([
    { metadata: { name: 'crd-controller-gitops' } },
    { metadata: { name: 'bind-crd-controller-gitops' }, roleRef: { name: 'crd-controller-gitops' }, subjects },
    { metadata: { name: 'bind-cluster-admin-gitops' }, roleRef: { name: 'cluster-admin' }, subjects },
  ]);
});

function customisedObjects(changes: Partial<FluxInstall>) {
  const options = fluxInstall(changes);
  return customised(installObjects(release, options), { install: options, version: release.version, origins: {} });
}

const named = (changes: Partial<FluxInstall>, kind: string, name: string) =>
  customisedObjects(changes).find((object) => object.kind === kind && object.metadata.name === name);

test('without these options nothing changes', () => {
  expect(customisedObjects({})).toStrictEqual(installObjects(release, fluxInstall()));
});

interface Pod {
  containers: { args?: string[]; env?: { name: string }[]; resources?: object; image?: string }[];
}

const podOf = (changes: Partial<FluxInstall>, name: string) =>
  deployment(name, customisedObjects(changes)).template.spec as Pod;

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
  const names = customisedObjects(changes).flatMap(({ kind, metadata }) =>
    kind === 'Deployment' ? [metadata.name] : [],
  );
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
  for (const { metadata } of customisedObjects(changes)) {
    expect(metadata).toMatchObject({
      labels: { team: 'a', 'app.kubernetes.io/version': release.version },
      annotations: { contact: 'b' },
    });
  }
});

describe('image digests', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const pinned = { ...release, imageDigests: { 'source-controller': digest } };
  const imageOf = (of: Release, changes: Partial<FluxInstall>) =>
    deployment('source-controller', install({ components: ['source-controller'], ...changes }, of)).template.spec
      .containers[0]?.image;

  it.each([
    [undefined, true],
    ['Auto', true],
    ['Always', true],
    ['Never', false],
  ] as const)('%s', (imageDigests, isPinned) => {
    const image = imageOf(pinned, { registry: 'registry.example.com', ...(imageDigests && { imageDigests }) });
    expect(image).toMatch(
      isPinned ? /^registry.example.com\/source-controller:[\w.-]+@sha256:a+$/ : /source-controller:[\w.-]+$/,
    );
  });

  it('Always is refused where the distribution does not know a digest', () => {
    expect(() => imageOf(release, { imageDigests: 'Always' })).toThrow(
      `flux.imageDigests "Always" requires a digest for each image, but Flux ${release.version} in the distribution has none for source-controller; use Auto, or ask the operators of this landscape to add them with "distribution make --digests"`,
    );
  });
});
