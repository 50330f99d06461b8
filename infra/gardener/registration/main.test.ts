import { spawnSync } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const register = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });

/** Expects that a command line is refused with one sentence, and returns it. */
function refused(...args: string[]): string {
  const { status, stdout, stderr } = register(...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr.trimEnd();
}

it.each([
  ['an empty file', '', 'is empty; write values of the chart into it, or leave --values out.'],
  ['only comments', '# none\n', 'is empty; write values of the chart into it, or leave --values out.'],
  ['a list', '- a\n', 'is not an object with values of the chart; write them as for Helm.'],
  ['a text', 'a\n', 'is not an object with values of the chart; write them as for Helm.'],
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
  ['no YAML', 'a: [\n', 'correct the file.'],
])('refuses %s as values', async (_, text, sentence) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-registration-'));
  const file = join(folder.path, 'values.yaml');
  await writeFile(file, text);
  const said = refused('--values', file);
  expect(said).toContain(file);
  expect(said).toContain(sentence);
});

it('takes values that remove a default of the chart, as Helm does', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-registration-'));
  const file = join(folder.path, 'values.yaml');
  await writeFile(file, 'resources: null\n');
  const { status, stdout } = register('--values', file);
  expect(status).toBe(0);
  expect(stdout).toContain('resources: null');
});

it('names a file that does not exist', () => {
  expect(refused('--values', '/no/such/file')).toContain('cannot read /no/such/file: file not found');
});

it.each([
  ['--version', 'v1', '"v1" is not a version; write it like 0.1.0'],
  ['--version', '0.1.0+build.1', '"0.1.0+build.1" is not a version'],
  [
    '--registry',
    'https://registry.example.com/',
    '"https://registry.example.com/" is not a registry; write host and path',
  ],
  ['--registry', 'registry.example.com/a/', 'is not a registry'],
  ['--registry', 'registry.example.com/A b', 'is not a registry'],
  ['--registry', '', 'is not a registry'],
])('refuses %s %j', (option, value, sentence) => {
  expect(refused(option, value)).toContain(sentence);
});

it('refuses an inlined chart for gardener-operator, which pulls charts', () => {
  expect(refused('--operator', '--inline')).toContain('--operator and --inline exclude each other');
});

it('refuses a file that it cannot write', () => {
  expect(refused('--out', '/no/such/folder/file')).toContain('cannot write /no/such/folder/file');
});

it.each(['registry.example.com', 'localhost:5000/gardener/charts_2'])('takes the registry %s', (registry) => {
  expect(register('--registry', registry)).toMatchObject({ status: 0, stderr: '' });
});
