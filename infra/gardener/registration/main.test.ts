import { spawnSync } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { releaseOf } from './main.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const register = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
const release = { version: '0.1.0', registry: 'registry.example.com' };

/** Reads values of the chart from a file with this text. */
async function read(text: string) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-registration-'));
  const values = join(folder.path, 'values.yaml');
  await writeFile(values, text);
  return await releaseOf(release, values);
}

it.each([
  ['only comments', '# none\n', 'is empty; write values of the chart into it, or leave --values out.'],
  ['a list', '- a\n', 'is not an object with values of the chart; write them as for Helm.'],
  ['an image without keys', 'image: registry.example.com/a\n', ': image must be object'],
  [
    'a misspelt key',
    'config:\n  hostKeyScann: off\n',
    ': config.hostKeyScann is not a value of the chart; did you mean hostKeyScan?',
  ],
  ['an unknown key', 'gitops: {}\n', ': gitops is not a value of the chart; charts/shoot-flux/README.md lists all'],
  [
    'another type and an unknown word',
    'replicaCount: "1"\nmode: lambda\n',
    ': mode must be equal to one of the allowed values: embedded, bridge-sqs, bridge-knative; ',
  ],
  ['a wrong policy', 'policy: { allowedVersions: 2.9.x }\n', ': policy.allowedVersions must be array'],
  ['a key without its value', 'config:\n  logLevel:\n', ': config.logLevel must be '],
])('refuses %s as values', async (_, text, sentence) => {
  await expect(read(text)).rejects.toThrow(`values.yaml${sentence.startsWith(':') ? '' : ' '}${sentence}`);
});

it('takes values that remove a default of the chart, as Helm does', async () => {
  expect(await read('resources: null\n')).toEqual({ ...release, values: { resources: null } });
});

it.each([
  ['version', '0.1.0+build.1', '"0.1.0+build.1" is not a version'],
  [
    'registry',
    'https://registry.example.com/',
    '"https://registry.example.com/" is not a registry; write host and path',
  ],
  ['registry', 'registry.example.com/a/', 'is not a registry'],
  ['registry', 'registry.example.com/A b', 'is not a registry'],
  ['registry', '', 'is not a registry'],
])('refuses --%s %j', async (option, value, sentence) => {
  await expect(releaseOf({ ...release, [option]: value })).rejects.toThrow(sentence);
});

it.each([
  [['--values', '/no/such/file'], 'cannot read /no/such/file: file not found; name a file, or - for standard input.\n'],
  [['--version', '0.1.0', '--digests', '/no/such/file'], 'cannot read /no/such/file: file not found.\n'],
  [['--digests', 'PUBLISHED'], '--digests are those of one release; name it with --version.\n'],
  [
    ['--resource', 'landscape=ConfigMap/a'],
    'no value refers to .resources.landscape; correct --resource landscape, or leave it out.\n',
  ],
  [['--operator', '--inline'], '--operator and --inline exclude each other: gardener-operator pulls the charts.\n'],
  [['--out', '/no/such/folder/file'], 'cannot write /no/such/folder/file: folder not found.\n'],
])('%j ends with one sentence', (args, stderr) => {
  expect(register(...args)).toMatchObject({ status: 2, stdout: '', stderr });
});

it.each([
  [
    'another release',
    `registry.example.org/shoot-flux@sha256:${'0'.repeat(64)}\n`,
    'the digest of registry.example.com/charts/shoot-flux is missing; name the file PUBLISHED of a release in this registry.\n',
  ],
  [
    'no digest',
    'registry.example.com/shoot-flux:0.1.0\n',
    '"registry.example.com/shoot-flux:0.1.0" is not a name with its digest; write lines like registry.example.com/shoot-flux@sha256:….\n',
  ],
])('refuses digests of a file with %s', async (_, content, stderr) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-registration-'));
  const file = join(folder.path, 'PUBLISHED');
  await writeFile(file, content);
  expect(register('--version', '0.1.0', '--digests', file)).toMatchObject({ status: 2, stdout: '', stderr });
});

it.each([
  ['--auto-enable', 'seed', '--auto-enable cannot be "seed"; use shoot.\n'],
  ['--cluster-compatibility', 'garden', '--cluster-compatibility cannot be "garden"; use shoot.\n'],
  ['--policy', 'always', '--policy cannot be "always"; use OnDemand, Always, AlwaysExceptNoShoots.\n'],
  ['--resource', 'my-config=ConfigMap/a', '--resource "my-config=ConfigMap/a" names no object; write it like '],
  ['--resource', 'landscape=Shoot/a', '--resource "landscape=Shoot/a" names no object; '],
  ['--reconcile-timeout', '5', '--reconcile-timeout "5" is not a duration; '],
  ['--reconcile-timeout', '0s', '--reconcile-timeout "0s" is zero; '],
])('refuses %s %s', (option, value, stderr) => {
  expect(register(option, value)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(stderr) });
});

it.each([['ControllerRegistration'], ['Extension', '--operator']])("sets Gardener's fields of %s", (kind, ...form) => {
  const resourceFields = ['--auto-enable', 'shoot', '--cluster-compatibility', 'shoot', '--reconcile-timeout', '5m'];
  const { stdout } = register(...form, ...resourceFields, '--policy', 'Always');
  const spec = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .find((object) => object.kind === kind)?.spec;
  const fields = { autoEnable: ['shoot'], clusterCompatibility: ['shoot'], reconcileTimeout: '5m' };
  expect(spec.resources).toEqual([expect.objectContaining({ kind: 'Extension', type: 'shoot-flux', ...fields })]);
  expect((spec.deployment.extension ?? spec.deployment).policy).toBe('Always');
});

it.each([['ControllerDeployment'], ['Extension', '--operator']])(
  'names ConfigMaps for the values of %s',
  async (kind, ...form) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-registration-'));
    const values = join(folder.path, 'values.yaml');
    await writeFile(values, "policy: '{{ .resources.landscape.data.policy }}'\n");
    expect(register(...form, '--values', values)).toMatchObject({
      status: 2,
      stderr: 'values refer to .resources.landscape; add --resource landscape=ConfigMap/NAME.\n',
    });
    const { stdout } = register(...form, '--values', values, '--resource', 'landscape=ConfigMap/shoot-flux-landscape');
    const object = parseAllDocuments(stdout)
      .map((document) => document.toJS())
      .find((each) => each.kind === kind);
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shoot-flux-landscape' };
    expect((object.spec?.deployment ?? object).resources).toEqual([{ name: 'landscape', resourceRef }]);
  },
);

it('takes a registry with a port', () => {
  const { status, stdout, stderr } = register('--registry', 'localhost:5000/gardener/charts_2');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('localhost:5000/gardener/charts_2/charts/shoot-flux:');
});
