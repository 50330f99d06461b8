import { describe, expect, it, test } from 'vitest';
import { stringify } from 'yaml';
import type { Policy } from '../../config/policy/policy.ts';
import type { FluxInstall, Patch } from '../../config/types.ts';
import { NOT_JSON } from '../../kube/parse-yaml.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { installObjects } from '../install.ts';
import { fluxInstall, standInRelease } from '../testing.ts';
import { patched as applied } from './apply.ts';

/** test/real/patches.test.ts compares random patches with what kustomize makes of them. */
const release = await standInRelease();
const origins = { 'flux.patches': { object: 'providerConfig', path: 'flux.patches' } };

function patched(patches: Patch[], policy?: Policy, changes: Partial<FluxInstall> = {}): KubeObject[] {
  const install = fluxInstall({ ...changes, patches });
  const customisation = { install, version: release.version, origins, policy };
  return applied(installObjects(release, install), customisation).objects;
}

function sentence(patch: Patch, policy?: Policy, changes: Partial<FluxInstall> = {}): string {
  try {
    patched([patch], policy, changes);
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
}

const find = (objects: KubeObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

const any = { kind: 'any', metadata: { name: 'any' } };
const controller = { kind: 'Deployment', name: 'source-controller' };
const operations = (...list: object[]): Patch => ({ target: controller, patch: JSON.stringify(list) });
const merge = (fields: object, target: Patch['target'] = controller): Patch => ({
  target,
  patch: stringify({ ...any, ...fields }),
});
const pod = (spec: object) => merge({ spec: { template: { spec } } });
const inContainer = (fields: object) => pod({ containers: [{ name: 'manager', ...fields }] });

test('a strategic merge patch changes every object of its target', () => {
  const target = { kind: 'Deployment', name: '(kustomize|helm)-controller' };
  const objects = patched([merge({ spec: { replicas: 2, template: { spec: { dnsPolicy: null } } } }, target)]);
  expect(find(objects, 'Deployment', 'helm-controller')?.spec).toMatchObject({ replicas: 2 });
  expect(find(objects, 'Deployment', 'kustomize-controller')?.spec).toMatchObject({ replicas: 2 });
  expect(find(objects, 'Deployment', 'source-controller')).toEqual(
    find(installObjects(release, fluxInstall()), 'Deployment', 'source-controller'),
  );
});

test('a mode that begins with 0 is octal', () => {
  const patch = `${stringify(any)}spec: { template: { spec: { volumes: [{ name: a, secret: { defaultMode: 0400 } }] } } }`;
  const spec = { volumes: expect.arrayContaining([{ name: 'a', secret: { defaultMode: 256 } }]) };
  expect(find(patched([{ target: controller, patch }]), 'Deployment', 'source-controller')).toMatchObject({
    spec: { template: { spec } },
  });
});

test('without a target, each document names its object', () => {
  const one = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'helm-controller' },
    spec: { replicas: 0 },
  };
  const other = { ...one, metadata: { name: 'source-controller', namespace: 'flux-system' } };
  const objects = patched([{ patch: `${stringify(one)}---\n${stringify(other)}` }]);
  for (const name of ['helm-controller', 'source-controller']) {
    expect(find(objects, 'Deployment', name)?.spec).toMatchObject({ replicas: 0 });
  }
});

test('patches are applied in their order, and the release stays as it is', () => {
  const before = structuredClone(installObjects(release, fluxInstall()));
  const objects = patched([
    operations({ op: 'add', path: '/spec/revisionHistoryLimit', value: 1 }),
    operations({ op: 'replace', path: '/spec/revisionHistoryLimit', value: 2 }),
  ]);
  expect(find(objects, 'Deployment', 'source-controller')?.spec).toMatchObject({ revisionHistoryLimit: 2 });
  expect(installObjects(release, fluxInstall())).toEqual(before);
});

test('what an installation works without can be deleted', () => {
  const objects = patched([merge({ $patch: 'delete' }, { kind: 'NetworkPolicy' })]);
  expect(objects.length).toBeGreaterThan(10);
  expect(objects.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
});

describe('selects by', () => {
  it.each<[string, NonNullable<Patch['target']>, number]>([
    ['group and version', { group: 'apps', version: 'v1' }, 4],
    ['empty fields', { kind: 'Deployment', name: '', namespace: '', labelSelector: '', annotationSelector: '' }, 4],
    ['an anchored name', { kind: 'Deployment', name: 'source' }, 0],
    ['a pattern', { kind: 'Deployment', name: '.*-controller' }, 4],
    ['the namespace', { kind: 'Deployment', namespace: 'flux-.*' }, 4],
    ['labels', { kind: 'Deployment', labelSelector: 'app.kubernetes.io/part-of=flux' }, 4],
    ['labels that are absent', { kind: 'Deployment', labelSelector: '!app.kubernetes.io/part-of' }, 0],
    ['a list of labels', { kind: 'Deployment', labelSelector: 'app.kubernetes.io/part-of in (flux, other)' }, 4],
    ['annotations', { annotationSelector: 'example.com/none' }, 0],
  ])('%s', (_what, target, count) => {
    const patch = merge({ metadata: { name: 'any', labels: { 'example.com/found': 'yes' } } }, target);
    if (count === 0) return expect(sentence(patch)).toContain('which selects no installed object');
    const found = patched([patch]).filter(({ metadata }) => metadata.labels?.['example.com/found'] === 'yes');
    return expect(found).toHaveLength(count);
  });
});

describe('one sentence for each mistake:', () => {
  it.each<[string, Patch, string]>([
    ['text', { patch: 'replicas' }, 'is neither an object nor a list of operations; use one of these'],
    ['nothing', { patch: '# later' }, 'is empty; write an object, or a list of operations'],
    ['no YAML', { patch: 'a: [' }, 'is not YAML: '],
    ['a date', { patch: 'kind: A\nmetadata: { name: a }\nspec: !!timestamp 2026-11-22' }, NOT_JSON],
    ['no number', { patch: '[{ op: add, path: /spec, value: .nan }]', target: { kind: 'Deployment' } }, NOT_JSON],
    ['a circle', { patch: 'kind: A\nmetadata: &a { name: a, labels: *a }' }, NOT_JSON],
    ['a deep text', { patch: '['.repeat(15_000) }, 'is nested too deeply; flatten it'],
    [
      'another selector',
      merge({ spec: { selector: { matchLabels: { tier: 'a' } } } }),
      'changes the selector of Deployment source-controller, which cannot change once it is installed; remove it',
    ],
    [
      'a merge key',
      { patch: 'kind: A\nmetadata: { name: a, labels: &a { b: c }, annotations: { <<: *a } }' },
      'has a merge key, <<, which is not supported; write the fields in its place',
    ],
    ['a repeated key', { patch: 'kind: a\nkind: b' }, 'has the key "kind" twice; remove one of them'],
    [
      'a name is missing',
      { patch: 'kind: Deployment' },
      'lacks kind or metadata.name; add them, with a target they may be any',
    ],
    ['no target', { patch: '[]' }, 'is a list of operations without a target; add a target'],
    [
      'two documents with a target',
      { target: controller, patch: `${stringify(any)}---\n${stringify(any)}` },
      'has several documents and a target; use one entry for each, or remove the target',
    ],
    [
      'a misspelt target',
      { ...merge({}), target: { kind: 'Deployment', name: 'sorce-controller' } },
      'has target { kind: Deployment, name: sorce-controller }, which selects no installed object; did you mean "source-controller"?',
    ],
    [
      'a component that is not installed',
      { ...merge({}), target: { kind: 'Deployment', name: 'image-reflector-controller' } },
      'has target { kind: Deployment, name: image-reflector-controller }, which selects no installed object; installed are source-controller, kustomize-controller, helm-controller, notification-controller',
    ],
    [
      'a kind that is not installed',
      { patch: 'kind: CronJob\nmetadata: { name: a }' },
      'names CronJob a, which is not installed; installed kinds are Namespace, ',
    ],
    [
      'an object that is not installed',
      { patch: 'kind: Deployment\nmetadata: { name: podinfo }' },
      'names Deployment podinfo, which is not installed; installed are source-controller,',
    ],
    [
      'an unknown operation',
      operations({ op: 'merge', path: '/spec' }),
      'has a wrong operation 0: op must be one of add, remove, replace, move, copy, test',
    ],
    ['no value', operations({ op: 'add', path: '/spec/replicas' }), 'has a wrong operation 0: value is missing'],
    [
      'no path',
      operations({ op: 'remove', path: 'spec' }),
      'has a wrong operation 0: path must be a path such as /spec/replicas',
    ],
    [
      'an inherited field',
      operations({ op: 'add', path: '/__proto__/a', value: 1 }),
      'has a wrong operation 0: path "/__proto__/a" is not a field',
    ],
    [
      'a missing path',
      operations({ op: 'remove', path: '/spec/nothing' }),
      'cannot be applied to Deployment source-controller: operation 0 (remove) fails, because there is nothing at "/spec/nothing"; correct the path',
    ],
    [
      'the end of a list, which only an addition has',
      operations({ op: 'replace', path: '/spec/template/spec/containers/0/args/-', value: 'a' }),
      'cannot be applied to Deployment source-controller: operation 0 (replace) fails, because there is nothing at "/spec/template/spec/containers/0/args/-"; correct the path',
    ],
    [
      'a path into a text',
      operations({ op: 'move', from: '/spec/replicas', path: '/kind/7' }),
      'cannot be applied to Deployment source-controller: operation 0 (move) fails, because there is nothing at "/kind/7"; correct the path',
    ],
    [
      'a copy of what an earlier operation has removed',
      operations({ op: 'remove', path: '/spec/replicas' }, { op: 'copy', from: '/spec/replicas', path: '/spec/x' }),
      'cannot be applied to Deployment source-controller: operation 1 (copy) fails, because there is nothing at "/spec/replicas"; correct the path',
    ],
    [
      'a failed test',
      operations({ op: 'test', path: '/spec/replicas', value: 7 }),
      'cannot be applied to Deployment source-controller: operation 0 (test) fails, because another value is at "/spec/replicas"; correct the path',
    ],
    [
      'copies',
      operations(...Array(5).fill({ op: 'copy', from: '/spec', path: '/x' })),
      'has more than 4 operations copy; write the values',
    ],
    [
      'an object as a list',
      merge({ spec: { template: { spec: { containers: {} } } } }),
      'has an object at spec.template.spec.containers, which is a list; correct it',
    ],
    [
      'an unknown directive',
      merge({ spec: { $patch: 'drop' } }),
      'has an unknown directive $patch at spec; use delete, replace or merge',
    ],
    [
      'the directives of kubectl',
      pod({ '$setElementOrder/containers': [{ name: 'manager' }] }),
      'has the directive $setElementOrder/containers at spec.template.spec, which kustomize ignores; remove it',
    ],
    [
      'two changes of one entry',
      inContainer({
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      }),
      'has two entries of spec.template.spec.containers[].env with name "A", of which kustomize ignores one; remove one',
    ],
    [
      'no entry',
      inContainer({ env: [null] }),
      'has an entry of spec.template.spec.containers[].env without name, by which entries are merged; add it',
    ],
    [
      'annotations that are a text',
      operations({ op: 'add', path: '/metadata/annotations', value: 'text' }),
      'sets metadata.annotations of Deployment source-controller to no object; correct it',
    ],
    [
      'an entry without its key',
      pod({ containers: [{ image: 'a' }] }),
      'has an entry of spec.template.spec.containers without name, by which entries are merged; add it',
    ],
    [
      'a port without its protocol',
      inContainer({ ports: [{ containerPort: 80 }] }),
      'has an entry of spec.template.spec.containers[].ports without protocol, by which entries are merged; add it',
    ],
    [
      'a slow pattern',
      { ...merge({}), target: { name: '(a+)+b' } },
      'target.name "(a+)+b" is too complex a pattern; use a name, or a form like (source|helm)-controller.*',
    ],
    [
      'a broken pattern',
      { ...merge({}), target: { name: '[' } },
      'target.name "[" is not a regular expression; use a name, or a form like .*-controller',
    ],
    [
      'a broken selector',
      { ...merge({}), target: { labelSelector: 'a in b' } },
      'target.labelSelector "a in b" is not a label selector; use a form like app=source-controller,tier in (a,b)',
    ],
  ])('%s', (_what, patch, expected) => {
    expect(sentence(patch)).toContain(`providerConfig: flux.patches[0] ${expected}`);
  });
});

describe('a patch cannot', () => {
  const rights = (reason: string) => `gives Deployment source-controller the rights of its node (${reason}); remove it`;
  const identity =
    'changes the kind, name or namespace of Deployment source-controller; a patch can only change the fields of an installed object';
  it.each<[string, Patch, string]>([
    ['rename', operations({ op: 'replace', path: '/metadata/name', value: 'x' }), identity],
    ['move', operations({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }), identity],
    ['become another kind', operations({ op: 'replace', path: '/kind', value: 'DaemonSet' }), identity],
    ['lose its metadata', operations({ op: 'remove', path: '/metadata' }), identity],
    [
      'delete a controller',
      merge({ $patch: 'delete' }),
      'deletes Deployment source-controller, which the installation needs; remove the directive $patch',
    ],
    [
      'change rights',
      merge({ subjects: [] }, { kind: 'ClusterRoleBinding', name: 'cluster-reconciler-.*' }),
      'changes ClusterRoleBinding cluster-reconciler-flux-system, which decides what Flux may do; only its labels and annotations can be patched',
    ],
    [
      'bind another subject to its rights',
      {
        target: { kind: 'ClusterRoleBinding', name: 'cluster-reconciler-.*' },
        patch: JSON.stringify([{ op: 'add', path: '/subjects/-', value: { kind: 'User', name: 'eve' } }]),
      },
      'changes ClusterRoleBinding cluster-reconciler-flux-system, which decides what Flux may do; only its labels and annotations can be patched',
    ],
    [
      'hold its namespace when that is deleted',
      {
        target: { kind: 'Namespace' },
        patch: JSON.stringify([{ op: 'add', path: '/spec', value: { finalizers: ['a'] } }]),
      },
      'changes Namespace flux-system, which decides what Flux may do; only its labels and annotations can be patched',
    ],
    [
      'set finalizers',
      operations({ op: 'add', path: '/metadata/finalizers', value: ['a/b'] }),
      'sets metadata.finalizers of Deployment source-controller; remove it',
    ],
    [
      'set keys of Gardener',
      operations({ op: 'add', path: '/metadata/annotations', value: { 'resources.gardener.cloud/ignore': 'true' } }),
      'changes the key resources.gardener.cloud/ignore of Deployment source-controller, which says how the object is managed; remove it',
    ],
    [
      'set a mark of Helm',
      merge({ metadata: { name: 'any', annotations: { 'meta.helm.sh/release-name': 'flux' } } }),
      'changes the key meta.helm.sh/release-name of Deployment source-controller, which says how the object is managed; remove it',
    ],
    [
      'set a mark of flux-operator',
      operations({ op: 'add', path: '/metadata/labels/fluxcd.controlplane.io~1name', value: 'flux' }),
      'changes the key fluxcd.controlplane.io/name of Deployment source-controller, which says how the object is managed; remove it',
    ],
    [
      'hide the version',
      merge({ metadata: { name: 'any', labels: { 'app.kubernetes.io/version': 'v9' } } }),
      'changes the key app.kubernetes.io/version of Deployment source-controller, which says how the object is managed; remove it',
    ],
    ['use the network of the node', pod({ hostNetwork: true }), rights('hostNetwork')],
    ['use files of the node', pod({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }), rights('a hostPath')],
    ['be privileged', inContainer({ securityContext: { privileged: true } }), rights('privileged')],
    [
      'add a privileged container',
      pod({ initContainers: [{ name: 'a', securityContext: { privileged: true } }] }),
      rights('privileged'),
    ],
    [
      'add capabilities',
      inContainer({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
      rights('capabilities'),
    ],
    ['be root', inContainer({ securityContext: { runAsNonRoot: false } }), rights('root')],
    [
      'act as another account',
      pod({ serviceAccountName: 'kustomize-controller' }),
      'changes the ServiceAccount of Deployment source-controller, which decides what it may do; remove it',
    ],
  ])('%s', (_what, patch, expected) => {
    expect(sentence(patch)).toBe(`providerConfig: flux.patches[0] ${expected}`);
  });
});

test('patches cannot make the installation grow without end', () => {
  const long = (name: string, kind: string) =>
    merge({ metadata: { name: 'any', annotations: { [name]: 'x'.repeat(15_000) } } }, { kind });
  expect(() => patched([long('a', '.*'), long('b', 'Deployment|.*Definition')])).toThrow(
    'flux.patches[1] makes the objects longer by more than 512 KiB; patch fewer objects',
  );
});

test('copies cannot double an object without end', () => {
  const double = operations(...[0, 1, 2, 3].map((n) => ({ op: 'copy', from: '/spec', path: `/spec/copy${n}` })));
  expect(() => patched(Array(32).fill(double))).toThrow('makes the objects longer by more than 512 KiB');
});

test.each([
  ['equal', [1, 2, 3], 'no error'],
  ['other', [1, 2], 'operation 0 (test) fails, because another value is at "/spec/x"; correct the path'],
])('an operation compares long lists: %s', (_what, end, expected) => {
  const [head, there] = [Array(3000).fill({ a: 'b' }), [1, 2, 3]];
  const add = operations({ op: 'add', path: '/spec/x', value: [...head, ...there] });
  const compare = operations({ op: 'test', path: '/spec/x', value: [...head, ...end] });
  const run = () => patched([add, compare]);
  if (expected === 'no error') expect(run).not.toThrow();
  else expect(run).toThrow(expected);
});

describe('the policy judges the result:', () => {
  const refused = (rule: string) => `is not allowed by ${rule} in the policy of this landscape`;
  const flags = `changes the containers, commands or flags of Deployment kustomize-controller on which multi-tenancy depends, which ${refused('requireMultiTenancy')}; remove that, and write other flags as --name=value`;
  const tenants = { multiTenancy: true };
  const kustomize = { kind: 'Deployment', name: 'kustomize-controller' };
  const add = (path: string, value: unknown): Patch => ({
    target: kustomize,
    patch: JSON.stringify([{ op: 'add', path, value }]),
  });
  const args = '/spec/template/spec/containers/0/args/-';
  const urls = { allowedRepositoryUrls: ['https://git.example.com/**'] };

  it.each<[string, Patch, Policy, string]>([
    [
      'images of other registries',
      inContainer({ image: 'evil.example.com/x:1' }),
      { allowedRegistries: ['ghcr.io/fluxcd'] },
      `gives Deployment source-controller the image "evil.example.com/x:1", which ${refused('allowedRegistries')}; use ghcr.io/fluxcd`,
    ],
    [
      'images of Docker Hub',
      inContainer({ image: 'x' }),
      { allowedRegistries: ['ghcr.io/fluxcd'] },
      `gives Deployment source-controller the image "x", which ${refused('allowedRegistries')}; use ghcr.io/fluxcd`,
    ],
    [
      'images as volumes',
      pod({ volumes: [{ name: 'a', image: { reference: 'evil.example.com/x' } }] }),
      { allowedRegistries: ['ghcr.io/fluxcd'] },
      `gives Deployment source-controller the image "evil.example.com/x", which ${refused('allowedRegistries')}; use ghcr.io/fluxcd`,
    ],
    ['a flag', add(args, '--no-cross-namespace-refs=false'), { requireMultiTenancy: true }, flags],
    ['a flag with its value beside it', add(args, '--default-service-account'), { requireMultiTenancy: true }, flags],
    ['the end of all flags', add(args.replace('-', '0'), '--'), { requireMultiTenancy: true }, flags],
    [
      'a flag that takes the next one',
      add(args.replace('-', '0'), '--events-addr'),
      { requireMultiTenancy: true },
      flags,
    ],
    ['a flag from a variable', add(args, '--$(FLAG)=false'), { requireMultiTenancy: true }, flags],
    [
      'another release',
      inContainer({ image: 'ghcr.io/fluxcd/source-controller:v1.0.0' }),
      { allowedVersions: ['2.9.x'], allowedRegistries: ['ghcr.io/fluxcd'] },
      `changes the image of container manager of Deployment source-controller, which ${refused('allowedVersions')}; remove that, and set version`,
    ],
    [
      'another server under an allowed name',
      pod({ hostAliases: [{ ip: '10.0.0.1', hostnames: ['git.example.com'] }] }),
      urls,
      `changes the servers that Deployment source-controller reaches (hostAliases), which ${refused('allowedRepositoryUrls')}; remove it, because another server could answer`,
    ],
    [
      'another certificate authority',
      inContainer({ env: [{ name: 'SSL_CERT_FILE', value: '/data/ca.crt' }] }),
      urls,
      `changes the servers that Deployment source-controller reaches (SSL_CERT_FILE or SSL_CERT_DIR), which ${refused('allowedRepositoryUrls')}; remove it, because another server could answer`,
    ],
    [
      'other names of servers in a file',
      inContainer({ volumeMounts: [{ name: 'temp', mountPath: '/tmp/..//etc/hosts', subPath: 'hosts' }] }),
      urls,
      `changes the servers that Deployment source-controller reaches (a volume at "/etc/hosts"), which ${refused('allowedRepositoryUrls')}; remove it, because another server could answer`,
    ],
    [
      'other flags',
      merge({ spec: { template: { spec: { containers: [{ name: 'manager', args: [] }] } } } }, kustomize),
      { requireMultiTenancy: true },
      flags,
    ],
    ['a command', add('/spec/template/spec/containers/0/command', ['sh']), { requireMultiTenancy: true }, flags],
    [
      'a proxy',
      inContainer({ env: [{ name: 'https_proxy', value: 'http://a' }] }),
      urls,
      `changes the proxy of Deployment source-controller, which ${refused('allowedRepositoryUrls')}; remove it, because the proxy would decide what is read`,
    ],
  ])('%s', (_what, patch, policy, expected) => {
    expect(sentence(patch, policy, tenants)).toBe(`providerConfig: flux.patches[0] ${expected}`);
    expect(sentence(patch, {}, tenants)).toBe('no error');
  });

  it('nothing else', () => {
    const policy = {
      allowedRegistries: ['ghcr.io/**'],
      allowedVersions: ['2.x'],
      requireMultiTenancy: true,
      ...urls,
    };
    expect(sentence(add(args, '--concurrent=7'), policy, tenants)).toBe('no error');
  });
});

test('operations copy what they change, and share the rest with the installed objects', () => {
  const before = installObjects(release, fluxInstall());
  const copy = structuredClone(before);
  const container = '/spec/template/spec/containers/0';
  const patches = [
    operations(
      { op: 'move', from: `${container}/env/0`, path: `${container}/env/-` },
      { op: 'replace', path: `${container}/image`, value: 'ghcr.io/a' },
      { op: 'copy', from: `${container}/env/0`, path: `${container}/env/-` },
      { op: 'remove', path: '/spec/template/metadata/labels/app' },
    ),
  ];
  const customisation = { install: fluxInstall({ patches }), version: release.version, origins };
  const after = applied(before, customisation).objects;
  expect(before).toEqual(copy);
  const [one, other] = [before, after].map((objects) => find(objects, 'Deployment', 'source-controller')?.spec) as {
    selector: object;
    template: { spec: { containers: { image: string; ports: object; env: object[] }[] } };
  }[];
  const [old, next] = [one, other].map((spec) => spec?.template.spec.containers[0]);
  expect(next?.image).toBe('ghcr.io/a');
  expect(next?.env).toEqual([old?.env[0], old?.env[0]]);
  expect(next?.ports).toBe(old?.ports);
  expect(other?.selector).toBe(one?.selector);
});

test('a patch of labels copies no schema of a CRD', () => {
  const crd = 'gitrepositories.source.toolkit.fluxcd.io';
  const target = { kind: 'CustomResourceDefinition', name: crd };
  const add = { op: 'add', path: '/metadata/labels/example.com~1team', value: 'blue' };
  const before = installObjects(release, fluxInstall());
  const customisation = { install: fluxInstall({ patches: [{ target, patch: JSON.stringify([add]) }] }), origins };
  const after = applied(before, { ...customisation, version: release.version }).objects;
  expect(find(after, 'CustomResourceDefinition', crd)?.metadata.labels).toMatchObject({ 'example.com/team': 'blue' });
  expect(find(after, 'CustomResourceDefinition', crd)?.spec).toBe(find(before, 'CustomResourceDefinition', crd)?.spec);
});
