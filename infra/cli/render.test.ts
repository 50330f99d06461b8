import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { git, ociRepository } from '../../shared/config/config.fixtures.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { fluxConfigOf, runWith, shootFlux, shootOf } from './testing.ts';

const distribution = ['--flux-distribution', standIn.folder];

const shoot = (spec: object = {}) => ({
  ...shootOf({ region: 'eu-1', provider: { type: 'local' }, ...spec }),
  status: { technicalID: 'shoot--foo--bar', uid: 'f00-ba5', clusterIdentity: 'shoot--foo--bar-f00-ba5-garden-dev' },
});

const resources = [{ name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'git-creds' } }];

const providerConfig = {
  flux: { components: ['source-controller', 'kustomize-controller'] },
  source: {
    template: { kind: 'GitRepository', spec: { url: 'ssh://git@git.example/foo/fleet.git', ref: { branch: 'main' } } },
    secretResourceName: 'creds',
  },
  kustomization: { template: { spec: { path: 'clusters/bar' } } },
};

const render = (inputs: Record<string, unknown>, ...more: string[]) => runWith('render', inputs, ...more);

test('renders a public repository of the project', async () => {
  const { out, ...ran } = await render({ 'flux-config': fluxConfigOf({ repositoryType: 'public' }), shoot: shoot() });
  expect(ran).toEqual({ code: 0, err: '' });
  await expect(out).toMatchFileSnapshot('./testdata/public-repository.yaml');
});

test('names Secrets of the landscape and reads the providerConfig of the Shoot', async () => {
  const extensions = [{ type: 'shoot-flux', providerConfig }];
  const { out } = await render({ shoot: shoot({ extensions, resources }) });
  expect(out).toContain('\n# Secret flux-system/flux-system: a copy of the resource "creds" of the Shoot.\n---\n');
  expect(out).not.toContain('kind: Secret');
  expect(out).toContain('\n  path: clusters/bar\n');
});

test('names each copy by its kind and name in the shoot, as far as they are known', async () => {
  const reference = (name: string, kind: string, apiVersion = 'v1') => ({
    name,
    resourceRef: { apiVersion, kind, name: `my-${name}` },
  });
  const copied = [
    reference('creds', 'Secret'),
    reference('vars', 'ConfigMap'),
    reference('cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1'),
  ];
  const config = { additionalSecretResources: copied.map(({ name }) => ({ name })) };
  const { out } = await render({ 'provider-config': config, shoot: shoot({ resources: copied }) });
  for (const sentence of [
    'Secret flux-system/my-creds: a copy of the resource "creds" of the Shoot.',
    'ConfigMap flux-system/my-vars: a copy of the resource "vars" of the Shoot.',
    'Secret flux-system/my-cloud: a token of the WorkloadIdentity that is the resource "cloud" of the Shoot.',
  ])
    expect(out).toContain(`# ${sentence}\n`);
  const unknown = await render({ 'provider-config': config });
  expect(unknown.out).toContain('# Secret flux-system/(with the name of the Secret): a copy');
  expect(unknown.out).toContain(
    '# ConfigMaps flux-system/shoot-info and flux-system/shoot-facts; pass --shoot to see them.\n',
  );
  expect(unknown.out).not.toContain('kind: ConfigMap');
});

test('says of each object of an addon which one brings it, and where it is listed', async () => {
  const addons = { charts: { objects: [ociRepository({}, { metadata: { name: 'charts' } })] } };
  const configMap = fluxConfigOf({ addons: 'charts', 'config.yaml': JSON.stringify({ objects: [git('own')] }) });
  const { out, err } = await render({ 'flux-config': configMap, config: { addons } });
  expect(err).toBe('');
  const listed = `addon charts, listed at addons of ConfigMap ${configMap.metadata.namespace}/flux-config`;
  expect(out).toContain(`\n---\n# ${listed}\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n`);
  expect(out.match(/^# addon /gm)).toHaveLength(1);
  const unknown = await runWith('validate', { 'flux-config': configMap });
  expect(unknown).toMatchObject({ code: 0, err: expect.stringContaining('addons "charts" is an addon') });
});

test('prints the same objects as JSON, and names the others on standard error', async () => {
  const inputs = { 'provider-config': providerConfig, shoot: shoot({ resources }) };
  const { out, err } = await render(inputs, '--json');
  expect(JSON.parse(out)).toEqual({
    ...{ apiVersion: 'v1', kind: 'List' },
    items: parseAllDocuments((await render(inputs)).out).map((document) => document.toJS()),
  });
  expect(err).toBe('not shown: Secret flux-system/flux-system: a copy of the resource "creds" of the Shoot.\n');
});

test('keeps the annotations of a template and omits those for the resource-manager', async () => {
  const template = {
    kind: 'GitRepository',
    metadata: { annotations: { 'example.com/mine': 'yes' } },
    spec: { url: 'https://git.example/foo', ref: { branch: 'main' } },
  };
  const config = { source: { template }, kustomization: providerConfig.kustomization };
  const { out } = await render({ 'provider-config': config });
  expect(out).toContain('  annotations:\n    example.com/mine: "yes"\n');
  expect(out).not.toContain('resources.gardener.cloud');
});

test('renders nothing for an invalid configuration', async () => {
  const { code, out, err } = await render({ 'provider-config': 'flux: {logLevel: loud}' });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^shoot-flux render: providerConfig: flux\.logLevel /);
});

test.each([
  ['--flux-config', 'kind: Secret\n', ' is not a ConfigMap; pass a file to --flux-config that holds one.'],
  ['--shoot', 'kind: ConfigMap\nmetadata: {name: a}\n', ' is not a Shoot; pass a file to --shoot that holds one.'],
  [
    '--shoot',
    'kind: Shoot\nspec: {resources: {name: a}}\n',
    ': spec.resources must be a list, not an object; start each entry with "- "',
  ],
  [
    '--shoot',
    'kind: Shoot\nspec: {extensions: [null, x]}\n',
    ': spec.extensions[0] must be an object, not null; $1: spec.extensions[1] must be an object, not a string',
  ],
  ['--flux-config', 'kind: ConfigMap\nDATA: {}\n', ': DATA is not a known key; did you mean data?'],
  [
    '--shoot',
    'kind: Shoot\nspec: {resources: [{name: creds}]}\n',
    ': spec.resources[0].resourceRef is missing; set it, for example { apiVersion: v1, kind: Secret, name: fleet-credentials }',
  ],
  ['--provider-config', 'kind: Shoot\n', ' holds a whole Shoot; pass it to --shoot.'],
  ['--provider-config', 'a: b\nc: "hidden\n', ': line 3 is neither YAML nor JSON (MISSING_CHAR); correct the file.'],
  ['--provider-config', 'a: b\na: c\n', ': line 2 repeats a key; correct the file.'],
  ['--flux-config', '\uFFFDk\0i\0n\0d\0', ' is not text in UTF-8; save it in this encoding.'],
  ['--provider-config', 'a:\n\tb: c\n', ': line 2 is indented with a tab; correct the file.'],
  ['--provider-config', 'a: b\n---\na: c\n', ' holds 2 documents; keep only one.'],
  [
    '--provider-config',
    'flux: *nowhere\n',
    ' has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan); write the value itself.',
  ],
])('rejects %s with %j', async (option, content, message) => {
  const file = option.slice(2);
  const { code, err } = await render({ [file]: content });
  expect({ code, err }).toEqual({ code: 1, err: `shoot-flux render: ${file}${message.replaceAll('$1', file)}\n` });
});

test.each([
  ['merge keys', 'flux:\n  <<: {namespace: gitops}\n'],
  ['aliases', 'flux: {namespace: &name gitops, priorityClass: *name}\n'],
  ['documents without content beside it', '# mine\n---\nflux: {namespace: gitops}\n---\n'],
  ['a byte order mark and lines of Windows', '\ufeffflux:\r\n  namespace: gitops\r\n'],
  ['JSON', '{"flux": {"namespace": "gitops"}}'],
])('accepts a file with %s', async (_what, content) => {
  const { out, err } = await shootFlux(['render', ...distribution, '--provider-config', '-'], content);
  expect(err).toBe('');
  expect(out).toContain('\nkind: Namespace\nmetadata:\n  name: gitops\n');
});

test('accepts a Shoot that has not been created yet', async () => {
  const inputs = { shoot: { kind: 'Shoot', spec: { resources } }, 'provider-config': providerConfig };
  expect(await render(inputs)).toMatchObject({ code: 0, err: '' });
});

test.each([
  ['/nowhere', 'file not found'],
  ['.', 'it is a folder'],
  [`${import.meta.filename}/x`, 'its path leads through a file'],
])('says in plain words why it cannot read %s', async (path, problem) => {
  const { code, err } = await shootFlux(['render', ...distribution, '--shoot', path]);
  expect(code).toBe(1);
  expect(err).toBe(`shoot-flux render: cannot read ${path}: ${problem}; name a file, or - for standard input.\n`);
});

test('warns that the ConfigMap of another project does not count for a Shoot', async () => {
  const inputs = { 'flux-config': fluxConfigOf({}), shoot: shootOf({}, { namespace: 'garden-other' }) };
  const warning =
    'warning: the Shoot is in namespace garden-other, where the ConfigMap flux-config of garden-foo does not count\n';
  expect(await runWith('validate', inputs)).toEqual({ code: 0, out: '', err: warning });
  expect(await render(inputs)).toMatchObject({ code: 0, err: expect.stringContaining(warning) });
});

test('reads standard input once', async () => {
  const args = ['render', ...distribution, '--shoot', '-', '--provider-config', '-'];
  expect(await shootFlux(args)).toMatchObject({ code: 2, err: expect.stringContaining('only one file can be') });
});
