import { expect, test } from 'vitest';
import type { EffectiveConfig, Patch } from '../config/types.ts';
import type { ObjectGroups, SecretContent } from '../flux/release.ts';
import { fluxInstall, fluxOnly, object, renderInputs } from '../flux/testing.ts';
import type { KubeObject } from '../kube/resource.ts';
import { installGroups, objectGroups } from './groups.ts';

/** Labels of every copy. */
const ours = {
  'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux',
  'reconcile.fluxcd.io/watch': 'Enabled',
};

const SKIP = 'resources.gardener.cloud/skip-health-check';
const KEEP = 'resources.gardener.cloud/keep-object';

const source = (namespace = 'flux-system') =>
  object('GitRepository', 'main', {
    metadata: { name: 'main', namespace },
    spec: { url: 'ssh://git@host/a', interval: '1m' },
  });
const kustomization = object('Kustomization', 'main', {
  metadata: { name: 'main', namespace: 'flux-system' },
  spec: { path: './', interval: '1m', prune: true, sourceRef: { kind: 'GitRepository', name: 'main' } },
});

function secretContent(changes: Partial<SecretContent> = {}): SecretContent {
  return { name: 'creds', namespace: 'flux-system', type: 'Opaque', data: { identity: 'eA==' }, ...changes };
}

const all = (groups: ObjectGroups) => Object.values(groups).flat();

/** Returns the places of the kept Secrets among the copies. */
async function keptSecrets(config: EffectiveConfig, syncMode: EffectiveConfig['syncMode']) {
  const secrets = config.additionalSecrets.map(({ targetName: name = '', namespace }) =>
    secretContent({ name, namespace }),
  );
  const groups = objectGroups(await renderInputs({ config: { ...config, syncMode }, secrets }));
  const kept = groups.secrets.filter(({ metadata }) => metadata.annotations?.[KEEP] !== undefined);
  return names(kept.filter(({ kind }) => kind === 'Secret'));
}

function names(objects: KubeObject[]): string[] {
  return objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join(' '));
}

test('groups CRDs with the Namespace, controllers, copies, and source with Kustomization', async () => {
  const config = fluxOnly({ source: source(), kustomization });
  const groups = objectGroups(await renderInputs({ config, secrets: [secretContent()] }));
  expect(new Set(groups.crds.map(({ kind }) => kind))).toEqual(new Set(['Namespace', 'CustomResourceDefinition']));
  expect([...new Set(groups.controllers.map(({ kind }) => kind))].join()).toBe(
    'NetworkPolicy,ResourceQuota,ClusterRole,ClusterRoleBinding,ServiceAccount,Service,Deployment',
  );
  expect(names(groups.secrets)).toEqual([
    'Secret flux-system creds',
    'ConfigMap flux-system shoot-info',
    'ConfigMap flux-system shoot-facts',
  ]);
  expect(groups.sync).toMatchObject([
    { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', spec: { url: 'ssh://git@host/a' } },
    { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', spec: { path: './' } },
  ]);
});

test.each([true, false])('creates the flux namespace unless it existed before: %s', async (ownsNamespace) => {
  const namespaces = all(objectGroups(await renderInputs({ ownsNamespace }))).filter(
    ({ kind }) => kind === 'Namespace',
  );
  const own = { metadata: { name: 'flux-system', annotations: { [KEEP]: 'true' } } };
  expect(namespaces).toMatchObject(ownsNamespace ? [own] : []);
});

test('creates other namespaces with keep-object, but not those that every cluster has', async () => {
  const config = fluxOnly({ source: source('sources') });
  const secrets = ['sources', 'kube-system', 'a'].map((namespace) => secretContent({ namespace }));
  const groups = objectGroups(await renderInputs({ config, secrets }));
  expect(groups.secrets.slice(0, 2)).toMatchObject([
    { kind: 'Namespace', metadata: { name: 'a', annotations: { [KEEP]: 'true' } } },
    { kind: 'Namespace', metadata: { name: 'sources', annotations: { [KEEP]: 'true' } } },
  ]);
  expect(names(groups.secrets).filter((name) => name.startsWith('Namespace'))).toHaveLength(2);
});

test('creates a claim once, and keeps it: the resource-manager could neither update it nor wait for its deletion', async () => {
  const config = fluxOnly({ flux: fluxInstall({ storage: { size: '10Gi' } }) });
  const { controllers } = objectGroups(await renderInputs({ config }));
  expect(controllers.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toMatchObject([
    { metadata: { annotations: { [KEEP]: 'true', 'resources.gardener.cloud/ignore': 'true' } } },
  ]);
});

test('keeps only Namespaces and CRDs by annotation, because the user has objects in and of them', async () => {
  const groups = objectGroups(await renderInputs({ config: fluxOnly({ source: source('sources') }) }));
  const kept = all(groups).filter(({ metadata }) => metadata.annotations?.[KEEP] !== undefined);
  expect(new Set(kept.map(({ kind }) => kind))).toEqual(new Set(['Namespace', 'CustomResourceDefinition']));
});

test('mode Once: keeps the Secrets of the project without which the released source and Kustomization would fail', async () => {
  const spec = { decryption: { provider: 'sops', secretRef: { name: 'flux-sops' } } };
  const variables = { postBuild: { substituteFrom: [{ kind: 'Secret', name: 'flux-variables', optional: true }] } };
  const copied = ['flux-sops', 'flux-variables', 'flux-registry'] as const;
  const config = fluxOnly({
    source: source(),
    kustomization: { ...kustomization, spec: { ...(kustomization.spec as object), ...spec, ...variables } },
    additionalSecrets: copied.map((name) => ({
      ...{ origin: { type: 'project', name }, targetName: name, namespace: 'flux-system' },
    })),
  });
  expect(await keptSecrets(config, 'Once')).toEqual(['Secret flux-system flux-sops']);
  expect(await keptSecrets(config, 'ManifestsOnly')).toEqual([]);
});

test('keeps the registry of the project as long as released controllers pull their images with it', async () => {
  const origin = { type: 'project', name: 'flux-registry' } as const;
  const config = fluxOnly({
    flux: fluxInstall({ imagePullSecret: 'flux-registry' }),
    additionalSecrets: ['flux-system', 'apps'].map((namespace) => ({ origin, targetName: origin.name, namespace })),
  });
  for (const syncMode of ['Once', 'ManifestsOnly'] as const)
    expect(await keptSecrets(config, syncMode)).toEqual(['Secret flux-system flux-registry']);
  expect(await keptSecrets(config, 'Reconcile')).toEqual([]);
});

test('mode Once: keeps the certificate of the registry that the released source trusts', async () => {
  const origin = { type: 'project', name: 'flux-registry' } as const;
  const certSecretRef = { name: 'flux-registry-ca' };
  const config = fluxOnly({
    source: object('OCIRepository', 'fleet', {
      metadata: { name: 'fleet', namespace: 'flux-system' },
      spec: { url: 'oci://registry.example.com/fleet', interval: '1m', certSecretRef },
    }),
    kustomization,
    additionalSecrets: [{ origin, targetName: certSecretRef.name, namespace: 'flux-system' }],
  });
  expect(await keptSecrets(config, 'Once')).toEqual(['Secret flux-system flux-registry-ca']);
  expect(await keptSecrets(config, 'Reconcile')).toEqual([]);
});

test('makes objects count for the health of the Shoot only if the operator opts in', async () => {
  const annotated = async (shootHealth: boolean) => {
    const config = fluxOnly({ source: source('sources'), kustomization });
    const groups = objectGroups(await renderInputs({ config, secrets: [secretContent()], shootHealth }));
    return new Set(all(groups).map(({ metadata }) => metadata.annotations?.[SKIP]));
  };
  expect(await annotated(false)).toEqual(new Set(['true']));
  expect(await annotated(true)).toEqual(new Set([undefined]));
});

test('lets Gardener delete every object with the Shoot', async () => {
  const groups = objectGroups(await renderInputs({ config: fluxOnly({ source: source(), kustomization }) }));
  expect(JSON.stringify(groups)).not.toContain('no-cleanup');
});

test('protects what is installed from the Kustomizations of users, and nothing else', async () => {
  const config = fluxOnly({ source: source(), kustomization });
  const { crds, controllers, secrets, sync } = objectGroups(await renderInputs({ config }));
  const annotations = { 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore', 'kustomize.toolkit.fluxcd.io/prune': 'Disabled' };
  for (const object of [...crds, ...controllers]) expect(object.metadata.annotations).toMatchObject(annotations);
  expect(JSON.stringify([...secrets, ...sync])).not.toContain('kustomize.toolkit.fluxcd.io/ssa');
  for (const { spec } of controllers) expect(JSON.stringify(spec ?? {})).not.toContain('kustomize.toolkit.fluxcd.io');
});

test('keeps the type of copied Secrets, and their labels beside those of the Go extension', async () => {
  const content = { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } };
  const labels = { team: 'blue', 'app.kubernetes.io/managed-by': 'Helm' };
  const [secret] = objectGroups(await renderInputs({ secrets: [secretContent({ ...content, labels })] })).secrets;
  expect(secret).toMatchObject(content);
  expect(secret?.metadata.labels).toEqual({ team: 'blue', ...ours });
});

test('suspends source and Kustomization, and keeps suspend of a template', async () => {
  const suspended = async (suspend: boolean, changes = {}) => {
    const spec = { ...(kustomization.spec as object), ...changes };
    const config = fluxOnly({ suspend, source: source(), kustomization: { ...kustomization, spec } });
    return objectGroups(await renderInputs({ config })).sync.map(
      (each) => (each.spec as { suspend?: boolean }).suspend,
    );
  };
  expect(await suspended(true)).toEqual([true, true]);
  expect(await suspended(false)).toEqual([undefined, undefined]);
  expect(await suspended(false, { suspend: true })).toEqual([undefined, true]);
});

test('writes facts of the Shoot to ConfigMaps in the flux namespace', async () => {
  const { shoot } = await renderInputs();
  const facts = { SHOOT_REGION: 'eu-1' };
  const config = fluxOnly({ flux: fluxInstall({ namespace: 'gitops' }) });
  const { secrets } = objectGroups(await renderInputs({ config, shoot: { ...shoot, facts } }));
  expect(secrets).toMatchObject([
    { kind: 'ConfigMap', metadata: { name: 'shoot-info', namespace: 'gitops' }, data: shoot.info },
    { kind: 'ConfigMap', metadata: { name: 'shoot-facts', namespace: 'gitops' }, data: facts },
  ]);
});

test('rejects templates that the CRDs of the release would reject', async () => {
  const spec = { ...(kustomization.spec as object), prune: 'yes', sourceRef: { kind: 'HelmRepository', name: 'a' } };
  const config = fluxOnly({ source: object('Bucket', 'a', { spec: {} }), kustomization: { ...kustomization, spec } });
  const inputs = await renderInputs({ config });
  expect(() => objectGroups(inputs)).toThrow(
    [
      'source.template.spec.bucketName is missing; set it',
      'source.template.spec.endpoint is missing; set it',
      'source.template.spec.interval is missing; set it',
      'kustomization.template.spec.prune must be true or false without quotes, not "yes"',
      'kustomization.template.spec.sourceRef.kind "HelmRepository" is not a valid value; use one of OCIRepository, GitRepository, Bucket',
    ].join('; providerConfig: '),
  );
});

test('keeps data and binaryData of a copied ConfigMap, and labels it', async () => {
  const configMaps = [
    { name: 'vars', namespace: 'apps', data: { a: 'b' }, binaryData: { c: '/w==' } },
    { name: 'empty', namespace: 'flux-system' },
  ];
  const { secrets } = objectGroups(await renderInputs({ configMaps }));
  const labels = ours;
  expect(secrets.slice(0, 3)).toEqual([
    expect.objectContaining({ kind: 'Namespace', metadata: expect.objectContaining({ name: 'apps' }) }),
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' }, binaryData: { c: '/w==' } },
      metadata: { name: 'vars', namespace: 'apps', labels, annotations: { [SKIP]: 'true' } },
    },
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'empty', namespace: 'flux-system', labels, annotations: { [SKIP]: 'true' } },
    },
  ]);
});

test('wrong fields of many objects give few sentences', async () => {
  const objects = Array.from({ length: 99 }, (_, i) => object('Bucket', `b${i}`, { spec: {} }));
  const inputs = await renderInputs({ config: fluxOnly({ objects }) });
  // Three for each object, until there are 20.
  const issues = expect.objectContaining({ length: 21 });
  expect(() => objectGroups(inputs)).toThrow(expect.objectContaining({ issues }));
});

/** Returns inputs whose options no other test has. */
function inputsOf(namespace: string, ...patches: Patch[]) {
  const flux = fluxInstall({ namespace, ...(patches.length > 0 && { patches }) });
  return renderInputs({ config: fluxOnly({ flux }) });
}

const onDeployments = (patch: unknown): Patch => ({ target: { kind: 'Deployment' }, patch: JSON.stringify(patch) });
const annotation = (text: string, name = 'text') =>
  onDeployments({ kind: 'any', metadata: { name: 'any', annotations: { [name]: text } } });

test('an error names the ConfigMap of its own project', async () => {
  const inputs = await inputsOf('same-mistake', onDeployments([{ op: 'remove', path: '/spec/none' }]));
  for (const object of ['ConfigMap garden-a/flux-config', 'ConfigMap garden-b/flux-config']) {
    const origins = { 'flux.patches': { object, path: 'x' } };
    const render = () => installGroups({ ...inputs, config: { ...inputs.config, origins } });
    expect(render).toThrow(expect.objectContaining({ issues: [expect.objectContaining({ object })] }));
  }
});

// They add about 30 KB to each Deployment; with aliases, a patch of one KB does so.
const texts = ['one', 'other'].map((name) => annotation('x'.repeat(15_000), name));
const aliases: Patch = {
  target: { kind: 'Deployment' },
  patch: `
- { op: add, path: /spec/template/spec/dnsConfig, value: {} }
- { op: add, path: /spec/template/spec/dnsConfig/a, value: &a [${'{},'.repeat(250)}] }
- { op: add, path: /spec/template/spec/dnsConfig/b, value: &b [${'*a,'.repeat(18)}] }
- { op: add, path: /spec/template/spec/dnsConfig/c, value: *b }
`,
};
test.each([
  ['long texts', texts],
  ['aliases', [aliases]],
])('equal options are rendered once, until patches of others add too much: %s', async (what, patches) => {
  const namespace = `kept-${what.replace(' ', '-')}`;
  const inputs = await inputsOf(namespace, annotation('short'));
  const { controllers } = installGroups(inputs);
  for (let number = 0; number < 20; number++) installGroups(await inputsOf(`${namespace}-${number}`));
  expect(installGroups(inputs).controllers).toBe(controllers);
  for (let number = 0; number < 20; number++) installGroups(await inputsOf(`${namespace}-${number}`, ...patches));
  expect(installGroups(inputs).controllers).not.toBe(controllers);
});
