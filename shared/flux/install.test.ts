import { expect, test } from 'vitest';
import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
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

test('sends no events without notification-controller', () => {
  expect(args('kustomize-controller', { components: ['kustomize-controller'] })?.[0]).toBe('--events-addr=');
});

test('enables the feature gate for the artifacts of source-watcher', () => {
  const watcher = release.files
    .get('source-controller')
    ?.map((source) => ({ ...source, metadata: { name: 'source-watcher' } }));
  const withWatcher = { ...release, files: new Map(release.files).set('source-watcher', watcher ?? []) };
  const components = ['kustomize-controller', 'helm-controller', 'source-controller', 'source-watcher'];
  const last = (name: string) => args(name, { components }, withWatcher)?.at(-1);
  expect(last('kustomize-controller')).toBe('--feature-gates=ExternalArtifact=true');
  expect(last('helm-controller')).toBe('--feature-gates=ExternalArtifact=true');
  expect(last('source-controller')).toBe(
    '--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.',
  );
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

test('changes flags in their position', () => {
  const args = ['--log-encoding=json', '--watch-all-namespaces', '--log-level=info', '--events-addr=http://there./'];
  const flags = { 'events-addr': '', 'watch-all-namespaces': 'false', 'log-level': 'debug' };
  expect(withFlags(args, flags)).toEqual([
    ...['--log-encoding=json', '--watch-all-namespaces=false', '--log-level=debug', '--events-addr='],
  ]);
  expect(args[1]).toBe('--watch-all-namespaces');
});

test('appends missing flags and keeps flags without a new value', () => {
  const flags = { 'events-addr': undefined, 'watch-all-namespaces': 'true', 'log-level': 'info' };
  expect(withFlags(['--events-addr=x', '--log-level-more=1'], flags)).toEqual([
    ...['--events-addr=x', '--log-level-more=1', '--watch-all-namespaces=true', '--log-level=info'],
  ]);
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

test('puts both pull secrets on every Deployment, the own one first', () => {
  const names = (changes: Partial<FluxInstall>) =>
    install(changes).flatMap(({ kind, spec }) =>
      kind === 'Deployment'
        ? [(spec as { template: { spec: { imagePullSecrets?: unknown } } }).template.spec.imagePullSecrets]
        : [],
    );
  const both = [{ name: 'own' }, { name: 'landscape' }];
  for (const found of names({ imagePullSecret: 'own', landscapePullSecret: 'landscape' })) expect(found).toEqual(both);
  for (const found of names({ landscapePullSecret: 'landscape' })) expect(found).toEqual([{ name: 'landscape' }]);
  for (const found of names({ imagePullSecret: 'same', landscapePullSecret: 'same' }))
    expect(found).toEqual([{ name: 'same' }]);
  for (const found of names({})) expect(found).toBeUndefined();
});

const role = object('ClusterRole', 'crd-controller');
const binding = (name: string) =>
  object('ClusterRoleBinding', `bind-${name}`, {
    roleRef: { kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'source-controller', namespace: 'flux-system' }],
  });

test('appends the namespace to names, and renames only roles of the release in bindings', () => {
  expect(rolesFor([role, binding('crd-controller'), binding('cluster-admin')], 'gitops')).toMatchObject([
    { metadata: { name: 'crd-controller-gitops' } },
    { metadata: { name: 'bind-crd-controller-gitops' }, roleRef: { name: 'crd-controller-gitops' } },
    { metadata: { name: 'bind-cluster-admin-gitops' }, roleRef: { name: 'cluster-admin' } },
  ]);
});

test('puts subjects into the namespace', () => {
  const subjects = (namespace: string) => rolesFor([binding('x')], namespace)[0]?.subjects;
  expect(subjects('gitops')).toMatchObject([{ name: 'source-controller', namespace: 'gitops' }]);
  expect(subjects('flux-system')).toMatchObject([{ namespace: 'flux-system' }]);
});
