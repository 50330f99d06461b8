import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKSUMS, checksumText } from '../../shared/flux/release-files.ts';
import { startEmptyCluster } from './empty-cluster.ts';
import { FILL } from './load.ts';

/**
 * Fills the compile cache of the bundle beside this file: starts each command that keeps running in an empty landscape,
 * and ends it once it is ready. The Node.js that runs this must be the one that will run the commands.
 */
async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fill-'));
  const cluster = await startEmptyCluster();
  try {
    await mkdir(join(import.meta.dirname, 'compile-cache'), { recursive: true });
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, cluster.kubeconfig);
    const clusters = ['--garden', kubeconfig, '--seed', `seed=${kubeconfig}`];
    const distribution = ['--flux-distribution', await writeDistribution(folder)];
    const probes = ['--port', '0'];
    const webhooks = ['--webhook-port', '0'];
    await endWhenReady(['run', ...clusters, ...distribution, ...probes, ...webhooks]);
    await endWhenReady(['webhooks', ...clusters, ...probes, ...webhooks]);
    await start(['--help']).ended;
  } finally {
    cluster.stop();
    await rm(folder, { recursive: true });
  }
}

/** A distribution with one release that has no objects. */
async function writeDistribution(folder: string): Promise<string> {
  const release = join(folder, 'distribution/v0.0.0');
  await mkdir(release, { recursive: true });
  const files = ['policies', 'rbac', 'source-controller'].map((name) => ({ name: `${name}.yaml`, text: '' }));
  for (const { name, text } of [...files, { name: CHECKSUMS, text: checksumText(files) }])
    await writeFile(join(release, name), text);
  return join(folder, 'distribution');
}

/** Starts a command, waits until its probes say that it is ready, and ends it with SIGTERM. */
async function endWhenReady(args: string[]): Promise<void> {
  const command = start(args);
  const port = await command.port;
  let answer = '';
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    answer = await response.text();
    if (!response.ok) {
      await sleep(50);
      continue;
    }
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    command.end();
    return command.ended;
  }
  command.end();
  throw new Error(`${args[0]} is not ready:\n${answer}`);
}

function start(args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'shoot-flux.mjs'), ...args], {
    env: { ...process.env, [FILL]: 'yes' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const port = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const [, found] = /metrics on port (\d+)/.exec(output) ?? [];
    if (found !== undefined) port.resolve(found);
  });
  child.on('close', (code, signal) => {
    const problem = new Error(`${args.join(' ')} ended with ${code ?? signal}:\n${output}`);
    port.reject(problem);
    if (code === 0) ended.resolve();
    else ended.reject(problem);
  });
  // Each is awaited, but a command may fail before.
  for (const { promise } of [port, ended]) (promise as Promise<unknown>).catch(() => {});
  return { port: port.promise, ended: ended.promise, end: () => child.kill('SIGTERM') };
}

void main();
