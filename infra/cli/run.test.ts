import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { files, kubeconfigOf, shootFlux } from './testing.ts';

const kubeconfig = kubeconfigOf();

test.each([
  [['--seed', 'a=kubeconfig', '--seed', 'a=kubeconfig'], '--seed a is given twice'],
  [['--seed', 'kubeconfig'], '--seed kubeconfig is not of the form NAME=KUBECONFIG'],
  [['--seed', 'garden=kubeconfig'], 'a seed cannot be called garden'],
  [['--seed', 'a/b=kubeconfig'], '--seed a/b is not the name of a seed'],
  [['--seed', 'a=kubeconfig', '--sqs-endpoint', 'http://sqs'], 'unknown option "--sqs-endpoint"'],
  [['--seed', 'a=kubeconfig', '--webhook-port', ''], '--webhook-port  is not a port'],
  [['--seed', 'a=kubeconfig', '--host-key-scan', 'listed'], '--host-key-scan listed requires --host-key-scan-allow'],
  [['--seed', 'a=kubeconfig', '--concurrency', '0'], '--concurrency 0 is not a whole number from 1 to 1000'],
])('rejects %j as wrong usage', async (args, message) => {
  await using input = await files({ kubeconfig });
  const own = args.map((arg) => arg.replace('=kubeconfig', `=${input.paths.kubeconfig}`));
  const options = ['--garden', input.paths.kubeconfig, '--flux-distribution', standIn.folder];
  const { code, err } = await shootFlux(['run', ...options, ...own]);
  expect(code).toBe(2);
  expect(err).toContain(`shoot-flux run: ${message}`);
});

async function run(paths: Record<'garden' | 'seed', string>, ...args: string[]) {
  const clusters = ['--garden', paths.garden, '--seed', `local=${paths.seed}`];
  return shootFlux(['run', ...clusters, '--flux-distribution', standIn.folder, ...args]);
}

const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Never' };

test.each<[string, { garden?: unknown; seed?: unknown }, string]>([
  ['an empty one', { seed: '' }, 'is not a kubeconfig in YAML or JSON'],
  [
    'another context',
    { seed: { ...kubeconfig, 'current-context': 'elsewhere' } },
    'current-context elsewhere is not among its contexts',
  ],
  [
    'http',
    { seed: kubeconfigOf({}, { server: 'http://127.0.0.1:1' }) },
    'The address of an API server must be an https:// URL',
  ],
  ['a plugin and without a server', { seed: kubeconfigOf({ exec }, {}) }, 'has no server'],
  ['a plugin that fails for the garden', { garden: kubeconfigOf({ exec }) }, 'its exec or auth-provider failed'],
])('does not start with an unusable kubeconfig: %s', async (_, wrong, message) => {
  await using input = await files({ garden: kubeconfig, seed: kubeconfig, ...wrong });
  const { code, err } = await run(input.paths, '--port', '0');
  expect(code).toBe(1);
  expect(err).toMatch(new RegExp(`^shoot-flux run: kubeconfig \\S+${Object.keys(wrong)}`));
  expect(err).toContain(message);
});

const checksums = await readFile(join(standIn.folder, standIn.version, 'SHA256SUMS'), 'utf8');
const withoutRbac = checksums.replace(/^.*rbac\.yaml\n/m, '');

test.each([
  [{ 'rbac.yaml': undefined, SHA256SUMS: withoutRbac }, 'lacks rbac.yaml'],
  [{ SHA256SUMS: undefined }, 'has no SHA256SUMS'],
])('does not start with a broken Flux release: %j', async (changes, message) => {
  await using input = await files({ garden: kubeconfig, seed: kubeconfig });
  const dir = join(input.dir, 'distribution');
  await cp(standIn.folder, dir, { recursive: true });
  for (const [name, text] of Object.entries(changes)) {
    const path = join(dir, 'v2.9.99', name);
    await (text === undefined ? rm(path) : writeFile(path, text));
  }
  const { code, err } = await run(input.paths, '--flux-distribution', dir, '--port', '0');
  expect(err).toMatch(new RegExp(`^shoot-flux run: .*${message}`));
  expect(code).toBe(1);
});

test('ends the process when the port is taken, with its watcher and queue', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, resolve));
  const { port } = taken.address() as AddressInfo;
  await using input = await files({ kubeconfig });
  const { kubeconfig: file } = input.paths;
  const clusters = ['--garden', file, '--seed', `local=${file}`, '--flux-distribution', standIn.folder];
  const command = ['infra/cli/shoot-flux.js', 'run', ...clusters, '--port', `${port}`];
  // A process that keeps running is killed and has no exit code.
  const ended = promisify(execFile)(process.execPath, command, { timeout: 120_000, killSignal: 'SIGKILL' });
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`^shoot-flux run: port ${port} is not available \\(.*EADDRINUSE.*\\); choose another one\\.\n$`),
    ),
  });
  await new Promise((resolve) => taken.close(resolve));
});
