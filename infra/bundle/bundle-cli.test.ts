import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { fluxConfigOf, kubeconfigOf, shootFlux } from '../cli/testing.ts';
import { startGarden, statusMapOf } from '../fleet/testing.ts';
import { bundleCli, bundleCommand } from './bundle-cli.ts';

const run = promisify(execFile);
let folder: string;
let bundled: string;

beforeAll(async () => {
  // Outside the checkout, so that no package and no source is found by accident.
  folder = await mkdtemp(join(tmpdir(), 'bundle-'));
  bundled = join(folder, 'shoot-flux.mjs');
  await bundleCli(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function start(entry: string, args: string[]): Promise<Ended> {
  const options = { cwd: folder, timeout: 300_000 };
  return run(process.execPath, [entry, ...args], options).then(
    (streams) => ({ code: 0, ...streams }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
}

/** Runs the sources in this process: starting them takes a second each time. */
async function sourcesSay(args: string[]): Promise<Ended> {
  const { code, out: stdout, err: stderr } = await shootFlux(args);
  return { code, stdout, stderr };
}

/** The commands that the help lists. */
async function commands(): Promise<string[]> {
  const { stdout } = await sourcesSay(['--help']);
  return [...(/Commands:\n(.*)\n\nEvery command/s.exec(stdout)?.[1] ?? '').matchAll(/^ {2}(\S+)/gm)].map(
    ([, name = '']) => name,
  );
}

describe('the bundle of the commands', () => {
  it('has every command of the sources, with the same help', async () => {
    const names = await commands();
    expect(names).toContain('run');
    for (const args of [['--help'], ...names.map((name) => [name, '--help'])]) {
      expect(await start(bundled, args)).toEqual(await sourcesSay(args));
    }
  });

  it('renders what the sources render', async () => {
    const config = join(folder, 'config.json');
    await writeFile(config, JSON.stringify(fluxConfigOf({ repositoryType: 'public' })));
    const args = ['render', '--flux-distribution', standIn.folder, '--flux-config', config, '--json'];
    const rendered = await start(bundled, args);
    expect(rendered.code).toBe(0);
    expect(rendered.stdout).toContain('main-gitrepo');
    expect(rendered).toEqual(await sourcesSay(args));
  });

  it('serves the webhooks of run in their thread', async () => {
    await writeFile(join(folder, 'nowhere.json'), JSON.stringify(kubeconfigOf()));
    const clusters = ['--garden', 'nowhere.json', '--seed', 's=nowhere.json'];
    const ports = ['--port', '0', '--webhook-port', '0'];
    const args = [bundled, 'run', ...clusters, '--flux-distribution', standIn.folder, ...ports];
    const child = spawn(process.execPath, args, { cwd: folder });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
      if (!child.killed && /webhooks on port \d+/.test(output)) child.kill('SIGTERM');
    });
    const [code] = await once(child, 'close');
    expect(code, output).toBe(0);
  });

  it('loads the plugins of kubeconfigs', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false' };
    await writeFile(join(folder, 'exec.json'), JSON.stringify(kubeconfigOf({ exec })));
    const args = ['run', '--garden', 'exec.json', '--seed', 's=exec.json', '--flux-distribution', standIn.folder];
    const { code, stderr } = await start(bundled, args);
    expect(code).toBe(1);
    expect(stderr).toContain('its exec or auth-provider failed');
  });
});

/** Writes the page of a garden, with its style. */
async function writesPage(entry: string): Promise<void> {
  await using garden = await startGarden([statusMapOf('garden-foo', { bar: { state: 'Ready' } })]);
  const out = join(folder, `page-of-${basename(entry)}`);
  const { code, stderr } = await start(entry, [
    'page',
    '--garden',
    garden.people.member,
    '-n',
    'garden-foo',
    '--out',
    out,
  ]);
  expect(code, stderr).toBe(0);
  const style = (await readdir(out)).find((name) => name.endsWith('.css')) ?? '';
  expect(await readFile(join(out, 'index.html'), 'utf8')).toContain(`href="${style}"`);
  expect(await readFile(join(out, style), 'utf8')).toContain('color-scheme: light dark');
}

it('the bundle has the page with its style', () => writesPage(bundled));

describe('the one file for people', () => {
  let file: string;
  beforeAll(async () => {
    file = join(folder, 'one', 'shoot-flux');
    await bundleCommand(dirname(file));
  });
  const execute = (path: string, args: string[]) =>
    run(path, args, { cwd: folder, env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } });

  it('has the commands of the sources, apart from services, and says where those are', async () => {
    const { stdout } = await execute(file, ['--help']);
    expect(stdout).toBe((await sourcesSay(['--help'])).stdout);
    expect((await execute(file, ['status', '--help'])).stdout).toBe((await sourcesSay(['status', '--help'])).stdout);
    await expect(execute(file, ['run'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the image'),
    });
  });

  it('renders what the sources render', async () => {
    const config = join(folder, 'config.json');
    await writeFile(config, JSON.stringify(fluxConfigOf({ repositoryType: 'public' })));
    const args = ['render', '--flux-distribution', standIn.folder, '--flux-config', config, '--json'];
    expect((await execute(file, args)).stdout).toBe((await sourcesSay(args)).stdout);
  });

  it('has the page with its style', () => writesPage(file));

  it.each(['kubectl-shoot_flux', 'flux-shoot'])('is a plugin under the name %s', async (name) => {
    const plugin = join(folder, 'one', name);
    await symlink(file, plugin);
    const usage = name === 'flux-shoot' ? 'flux shoot' : 'kubectl shoot-flux';
    expect((await execute(plugin, ['status', '--help'])).stdout).toContain(`Usage:\n  ${usage} status [options]`);
    expect((await execute(plugin, ['__complete', 'stat'])).stdout).toMatch(/^status\t/);
  });

  it('asks the plugin of a kubeconfig', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Never' };
    await writeFile(join(folder, 'login.json'), JSON.stringify(kubeconfigOf({ exec })));
    await expect(execute(file, ['status', '--kubeconfig', 'login.json', '-A'])).rejects.toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('its exec or auth-provider failed') },
    });
  });
});
