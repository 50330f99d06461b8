import { describe, expect, it, test } from 'vitest';
import { stringify } from 'yaml';
import type { Policy } from '../../config/policy/policy.ts';
import type { FluxInstall, Patch } from '../../config/types.ts';
import { NOT_JSON } from '../../kube/parse-yaml.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { installObjects } from '../install.ts';
import { fluxInstall, object, standInRelease } from '../testing.ts';
import { patched as applied } from './apply.ts';
import { labelSelector, selectorOf } from './select.ts';

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
const account = { kind: 'ServiceAccount', name: 'source-controller' };
const operations = (...list: object[]): Patch => ({ target: controller, patch: JSON.stringify(list) });
const add = (path: string, value: unknown, target: Patch['target'] = controller): Patch => ({
  ...operations({ op: 'add', path, value }),
  target,
});
const merge = (fields: object, target: Patch['target'] = controller): Patch => ({
  target,
  patch: stringify({ ...any, ...fields }),
});
const pod = (spec: object) => merge({ spec: { template: { spec } } });
const inContainer = (fields: object) => pod({ containers: [{ name: 'manager', ...fields }] });

const replicasOf = (objects: KubeObject[], name: string) =>
  (find(objects, 'Deployment', `${name}-controller`)?.spec as { replicas?: number } | undefined)?.replicas;

test('a strategic merge patch changes every object of its target', () => {
  const target = { kind: 'Deployment', name: '(kustomize|helm)-controller' };
  const objects = patched([merge({ spec: { replicas: 2, template: { spec: { dnsPolicy: null } } } }, target)]);
  expect(['helm', 'kustomize', 'source'].map((name) => replicasOf(objects, name))).toEqual([2, 2, 1]);
});

test('a mode that begins with 0 is octal', () => {
  const patch = `${stringify(any)}spec: { template: { spec: { volumes: [{ name: a, secret: { defaultMode: 0400 } }] } } }`;
  const spec = { volumes: expect.arrayContaining([{ name: 'a', secret: { defaultMode: 256 } }]) };
  expect(find(patched([{ target: controller, patch }]), 'Deployment', 'source-controller')).toMatchObject({
    spec: { template: { spec } },
  });
});

it.each<[string, Patch]>([
  ['a merge', merge({ metadata: { name: 'any', annotations: { 'eks.amazonaws.com/role-arn': 'arn' } } }, account)],
  ['an operation', add('/metadata/annotations', { 'eks.amazonaws.com/role-arn': 'arn' }, account)],
])('%s gives a ServiceAccount the annotation of IRSA', (_what, patch) => {
  const found = find(patched([patch]), 'ServiceAccount', 'source-controller');
  expect(found?.metadata.annotations).toMatchObject({ 'eks.amazonaws.com/role-arn': 'arn' });
});

test('a toleration may have a key in capitals', () => {
  const tolerations = [{ key: 'CriticalAddonsOnly', operator: 'Exists', effect: 'NoSchedule' }];
  expect(find(patched([pod({ tolerations })]), 'Deployment', 'source-controller')).toMatchObject({
    spec: { template: { spec: { tolerations } } },
  });
});

test('without a target, each document names its object', () => {
  const named = (metadata: object) => stringify({ kind: 'Deployment', metadata, spec: { replicas: 0 } });
  const other = named({ name: 'source-controller', namespace: 'flux-system' });
  const objects = patched([{ patch: `${named({ name: 'helm-controller' })}---\n${other}` }]);
  expect(['helm', 'source', 'kustomize'].map((name) => replicasOf(objects, name))).toEqual([0, 0, 1]);
});

test('patches are applied in their order, and the release stays as it is', () => {
  const before = structuredClone(installObjects(release, fluxInstall()));
  const objects = patched([
    add('/spec/revisionHistoryLimit', 1),
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
])('selects by: %s', (_what, target, count) => {
  const patch = merge({ metadata: { name: 'any', labels: { 'example.com/found': 'yes' } } }, target);
  if (count === 0) return expect(sentence(patch)).toContain('which selects no installed object');
  const found = patched([patch]).filter(({ metadata }) => metadata.labels?.['example.com/found'] === 'yes');
  return expect(found).toHaveLength(count);
});

describe('one sentence for each mistake:', () => {
  const among = (target: Patch['target']) => ({ ...merge({}), target });
  const [env, ports] = ['env', 'ports'].map((list) => `spec.template.spec.containers[].${list}`);
  const unmerged = (list: string | undefined, key: string) =>
    `has an entry of ${list} without ${key}, by which entries are merged; add it`;
  const wrong = (problem: string) => `has a wrong operation 0: ${problem}`;
  const fails = (operation: string, why: string) =>
    `cannot be applied to Deployment source-controller: operation ${operation} fails, because ${why}; correct the path`;
  const end = '/spec/template/spec/containers/0/args/-';
  const twice = [1, 2].map((value) => ({ name: 'A', value: `${value}` }));

  const mistakes: Record<string, Patch | string | (Patch | string)[]> = {
    'is neither an object nor a list of operations; use one of these': 'replicas',
    'is empty; write an object, or a list of operations': '# later',
    'is not YAML: Invalid escape sequence \\q at line 1, column 2; correct it': `"${'\\q'.repeat(8000)}"`,
    [NOT_JSON]: [
      'kind: A\nmetadata: { name: a }\nspec: !!timestamp 2026-11-22',
      { patch: '[{ op: add, path: /spec, value: .nan }]', target: { kind: 'Deployment' } },
      'kind: A\nmetadata: &a { name: a, labels: *a }',
    ],
    'is nested too deeply; flatten it': '['.repeat(15_000),
    'changes the selector of Deployment source-controller, which cannot change once it is installed; remove it': merge({
      spec: { selector: { matchLabels: { tier: 'a' } } },
    }),
    'has a merge key, <<, which is not supported; write the fields in its place':
      'kind: A\nmetadata: { name: a, labels: &a { b: c }, annotations: { <<: *a } }',
    'has the key "kind" twice; remove one of them': 'kind: a\nkind: b',
    'lacks kind or metadata.name; add them (with a target, any values will do)': 'kind: Deployment',
    'is a list of operations without a target; add a target': '[]',
    'has several documents and a target; use one entry for each, or remove the target': {
      target: controller,
      patch: `${stringify(any)}---\n${stringify(any)}`,
    },
    'has target { kind: Deployment, name: sorce-controller }, which selects no installed object; did you mean "source-controller"?':
      among({ kind: 'Deployment', name: 'sorce-controller' }),
    'has target { kind: Deployment, name: image-reflector-controller }, which selects no installed object; installed are source-controller, kustomize-controller, helm-controller, notification-controller':
      among({ kind: 'Deployment', name: 'image-reflector-controller' }),
    'names CronJob a, which is not installed; installed kinds are Namespace, ': 'kind: CronJob\nmetadata: { name: a }',
    'names Deployment podinfo, which is not installed; installed are source-controller,':
      'kind: Deployment\nmetadata: { name: podinfo }',
    [wrong('op must be one of add, remove, replace, move, copy, test')]: operations({ op: 'merge', path: '/spec' }),
    [wrong('value is missing')]: operations({ op: 'add', path: '/spec/replicas' }),
    [wrong('path must be a path such as /spec/replicas')]: operations({ op: 'remove', path: 'spec' }),
    [wrong('path "/__proto__/a" is not a field')]: add('/__proto__/a', 1),
    [fails('0 (remove)', 'there is nothing at "/spec/nothing"')]: operations({ op: 'remove', path: '/spec/nothing' }),
    // Only an addition has the end of a list.
    [fails('0 (replace)', `there is nothing at "${end}"`)]: operations({ op: 'replace', path: end, value: 'a' }),
    [fails('0 (move)', 'there is nothing at "/kind/7"')]: operations({
      op: 'move',
      from: '/spec/replicas',
      path: '/kind/7',
    }),
    [fails('0 (test)', 'another value is at "/spec/replicas"')]: operations({
      op: 'test',
      path: '/spec/replicas',
      value: 7,
    }),
    'has more than 4 operations copy; write the values': operations(
      ...Array(5).fill({ op: 'copy', from: '/spec', path: '/x' }),
    ),
    'has an object at spec.template.spec.containers, which is a list; correct it': pod({ containers: {} }),
    'has an unknown directive $patch at spec; use delete, replace or merge': merge({ spec: { $patch: 'drop' } }),
    'has the directive $setElementOrder/containers at spec.template.spec, which kustomize ignores; remove it': pod({
      '$setElementOrder/containers': [{ name: 'manager' }],
    }),
    [`has two entries of ${env} with name "A", of which kustomize ignores one; remove one`]: inContainer({
      env: twice,
    }),
    [unmerged('spec.template.spec.containers', 'name')]: pod({ containers: [{ image: 'a' }] }),
    [unmerged(ports, 'protocol')]: inContainer({ ports: [{ containerPort: 80 }] }),
    'sets metadata.annotations of Deployment source-controller to no object; correct it': add(
      '/metadata/annotations',
      'text',
    ),
    'target.name "(a+)+b" is too complex a pattern; use a name, or a form like (source|helm)-controller.*': among({
      name: '(a+)+b',
    }),
    'target.name "[" is not a regular expression; use a name, or a form like .*-controller': among({ name: '[' }),
    'target.labelSelector "a in b" is not a label selector; use a form like app=source-controller,tier in (a,b)': among(
      {
        labelSelector: 'a in b',
      },
    ),
  };
  const rows = Object.entries(mistakes).flatMap(([sentence, patches]) =>
    [patches].flat().map((patch) => [sentence, typeof patch === 'string' ? { patch } : patch] as const),
  );

  it.each(rows)('%s', (expected, patch) => {
    expect(sentence(patch)).toContain(`providerConfig: flux.patches[0] ${expected}`);
  });
});

describe('a patch cannot', () => {
  const what = 'Deployment source-controller';
  const rights = (reason: string) => `gives ${what} the rights of its node (${reason}); remove it`;
  const identity = `changes the kind, name or namespace of ${what}; a patch can only change the fields of an installed object`;
  const fixed = (object: string) =>
    `changes ${object}, which decides what Flux may do; only its labels and annotations can be patched`;
  const managed = (key: string) => `changes the key ${key} of ${what}, which says how the object is managed; remove it`;
  const binding = { kind: 'ClusterRoleBinding', name: 'cluster-reconciler-.*' };
  const bound = fixed('ClusterRoleBinding cluster-reconciler-flux-system');
  const marked = (field: string, key: string) => merge({ metadata: { name: 'any', [field]: { [key]: 'flux' } } });

  it.each(
    Object.entries<[Patch, string]>({
      rename: [operations({ op: 'replace', path: '/metadata/name', value: 'x' }), identity],
      'become another kind': [operations({ op: 'replace', path: '/kind', value: 'DaemonSet' }), identity],
      'lose its metadata': [operations({ op: 'remove', path: '/metadata' }), identity],
      'delete a controller': [
        merge({ $patch: 'delete' }),
        `deletes ${what}, which the installation needs; remove the directive $patch`,
      ],
      'change rights': [merge({ subjects: [] }, binding), bound],
      'bind another subject to its rights': [add('/subjects/-', { kind: 'User', name: 'eve' }, binding), bound],
      'hold its namespace when that is deleted': [
        add('/spec', { finalizers: ['a'] }, { kind: 'Namespace' }),
        fixed('Namespace flux-system'),
      ],
      'set finalizers': [add('/metadata/finalizers', ['a/b']), `sets metadata.finalizers of ${what}; remove it`],
      'set keys of Gardener': [
        add('/metadata/annotations', { 'resources.gardener.cloud/ignore': 'true' }),
        managed('resources.gardener.cloud/ignore'),
      ],
      'set a mark of Helm': [marked('annotations', 'meta.helm.sh/release-name'), managed('meta.helm.sh/release-name')],
      'hide the version': [marked('labels', 'app.kubernetes.io/version'), managed('app.kubernetes.io/version')],
      'use the network of the node': [pod({ hostNetwork: true }), rights('hostNetwork')],
      'use files of the node': [pod({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }), rights('a hostPath')],
      'be privileged': [inContainer({ securityContext: { privileged: true } }), rights('privileged')],
      'add capabilities': [
        inContainer({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
        rights('capabilities'),
      ],
      'be root': [inContainer({ securityContext: { runAsNonRoot: false } }), rights('root')],
      'act as another account': [
        pod({ serviceAccountName: 'kustomize-controller' }),
        `changes the ServiceAccount of ${what}, which decides what it may do; remove it`,
      ],
    }),
  )('%s', (_what, [patch, expected]) => {
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

describe('the policy judges the result:', () => {
  const refused = (rule: string) => `is not allowed by ${rule} in the policy of this landscape`;
  const flags = `changes the containers, commands or flags of Deployment kustomize-controller on which multi-tenancy depends, which ${refused('requireMultiTenancy')}; remove that, and write other flags as --name=value`;
  const tenants = { multiTenancy: true };
  const kustomize = { kind: 'Deployment', name: 'kustomize-controller' };
  const flag = (value: string, path = args) => add(path, value, kustomize);
  const args = '/spec/template/spec/containers/0/args/-';
  const urls = { allowedRepositoryUrls: ['https://git.example.com/**'] };

  const image = (name: string) =>
    `gives Deployment source-controller the image "${name}", which ${refused('allowedRegistries')}; use ghcr.io/fluxcd`;
  const servers = (how: string) =>
    `changes the servers that Deployment source-controller reaches (${how}), which ${refused('allowedRepositoryUrls')}; remove it, because another server could answer`;
  const registries = { allowedRegistries: ['ghcr.io/fluxcd'] };
  const lockdown = { requireMultiTenancy: true };
  const evil = 'evil.example.com/x:1';

  it.each(
    Object.entries<[Patch, Policy, string]>({
      'images of other registries': [inContainer({ image: evil }), registries, image(evil)],
      'images of Docker Hub': [inContainer({ image: 'x' }), registries, image('x')],
      'images as volumes': [pod({ volumes: [{ name: 'a', image: { reference: evil } }] }), registries, image(evil)],
      'a flag': [flag('--no-cross-namespace-refs=false'), lockdown, flags],
      'a flag with its value beside it': [flag('--default-service-account'), lockdown, flags],
      'the end of all flags': [flag('--', args.replace('-', '0')), lockdown, flags],
      'a flag from a variable': [flag('--$(FLAG)=false'), lockdown, flags],
      'other flags': [add('/spec/template/spec/containers/0/args', [], kustomize), lockdown, flags],
      'a command': [add('/spec/template/spec/containers/0/command', ['sh'], kustomize), lockdown, flags],
      'another release': [
        inContainer({ image: 'ghcr.io/fluxcd/source-controller:v1.0.0' }),
        { allowedVersions: ['2.9.x'], ...registries },
        `changes the image of container manager of Deployment source-controller, which ${refused('allowedVersions')}; remove that, and set version`,
      ],
      'another server under an allowed name': [
        pod({ hostAliases: [{ ip: '10.0.0.1', hostnames: ['git.example.com'] }] }),
        urls,
        servers('hostAliases'),
      ],
      'another certificate authority': [
        inContainer({ env: [{ name: 'SSL_CERT_FILE', value: '/data/ca.crt' }] }),
        urls,
        servers('SSL_CERT_FILE or SSL_CERT_DIR'),
      ],
      'other names of servers in a file': [
        pod({
          volumes: [{ name: 'temp', emptyDir: {} }],
          containers: [
            { name: 'manager', volumeMounts: [{ name: 'temp', mountPath: '/tmp/..//etc/hosts', subPath: 'hosts' }] },
          ],
        }),
        urls,
        servers('a volume at "/etc/hosts"'),
      ],
      'a proxy': [
        inContainer({ env: [{ name: 'https_proxy', value: 'http://a' }] }),
        urls,
        `changes the proxy of Deployment source-controller, which ${refused('allowedRepositoryUrls')}; remove it, because the proxy would decide what is read`,
      ],
    }),
  )('%s', (_what, [patch, policy, expected]) => {
    expect(sentence(patch, policy, tenants)).toBe(`providerConfig: flux.patches[0] ${expected}`);
    // Without the policy, only what lifts the lockdown or removes what an option needs is wrong.
    expect(sentence(patch, {}, tenants)).toMatch(/^no error$|removes --(events-addr|no-cross-namespace-refs)/);
  });

  it('nothing else', () => {
    const policy = { allowedRegistries: ['ghcr.io/**'], allowedVersions: ['2.x'], ...lockdown, ...urls };
    expect(sentence(flag('--concurrent=7'), policy, tenants)).toBe('no error');
  });
});

test('a patch of labels copies no schema of a CRD', () => {
  const crd = 'gitrepositories.source.toolkit.fluxcd.io';
  const patch = add('/metadata/labels/example.com~1team', 'blue', { kind: 'CustomResourceDefinition', name: crd });
  const before = installObjects(release, fluxInstall());
  const customisation = { install: fluxInstall({ patches: [patch] }), origins };
  const after = applied(before, { ...customisation, version: release.version }).objects;
  expect(find(after, 'CustomResourceDefinition', crd)?.metadata.labels).toMatchObject({ 'example.com/team': 'blue' });
  expect(find(after, 'CustomResourceDefinition', crd)?.spec).toBe(find(before, 'CustomResourceDefinition', crd)?.spec);
});

test('a pattern that repeats four parts is refused, and one with three reads the longest namespace', () => {
  const metadata = { name: 'a', namespace: 'n'.repeat(63) };
  const objects = Array.from({ length: 2000 }, () => object('Deployment', 'a', { metadata }));
  const select = (namespace: string) => () => objects.filter(selectorOf({ namespace }));
  expect(select('.*.*.*.*_')).toThrow('too complex a pattern');
  expect(select('n.*n.*n.*')()).toHaveLength(2000);
  expect(select('.*.*.*_')()).toEqual([]);
});

it.each([
  [{ tier: 'b', app: 'c' }, true],
  [{ tier: 'b', app: 'c', d: '' }, false],
  [{ tier: 'x', app: 'c' }, false],
  [{ tier: 'a' }, false],
])('a list of requirements is split outside of parentheses: %j', (labels, expected) => {
  expect(labelSelector('selector', 'tier in (a, b), app=c,!d,other notin (x,y)')(labels)).toBe(expected);
});
