import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleCli } from '../../../infra/bundle/bundle-cli.ts';
import { type CommandProcess, startCommand } from '../../command-process.ts';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

/** A process with the command `run`. */
export interface ProductProcess extends CommandProcess {
  /** From the start of the process until `/readyz` says that the first sync is done. */
  readyAfterMs: number;
}

/** What a process serves, and when its start is over. */
interface ProductProcessOptions {
  /** Kubeconfig files of further seeds by name. */
  otherSeeds?: Record<string, string>;
  /** False: the promise resolves as soon as the process listens, before its first lists are complete. */
  untilReady?: boolean;
  /** Called with each line of the log. */
  onLog?(line: string): void;
}

/** Starts the whole product as the image does, and waits until it is ready. */
export async function startProductProcess(
  kubeconfigFile: string,
  { otherSeeds = {}, untilReady = true, onLog }: ProductProcessOptions = {},
): Promise<ProductProcess> {
  const entry = await bundledProduct();
  const started = performance.now();
  const seeds = Object.entries({ [SEED]: kubeconfigFile, ...otherSeeds }).map(
    ([name, file]) => `--seed=${name}=${file}`,
  );
  const level = onLog === undefined ? 'warn' : 'info';
  const command = await startCommand(
    [
      ...['run', `--garden=${kubeconfigFile}`, ...seeds],
      ...[`--flux-distribution=${fluxDistribution}`, `--log-level=${level}`],
    ],
    {
      entry,
      onLine(line) {
        if (process.env.BENCH_LOG !== undefined) process.stderr.write(`${line}\n`);
        onLog?.(line);
      },
    },
  );
  while (untilReady && !(await answersOk(`${command.address}/readyz`))) await sleep(5);
  return { ...command, readyAfterMs: performance.now() - started };
}

function answersOk(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  get(url, { agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  }).on('error', () => resolve(false));
  return promise;
}

let made: Promise<string> | undefined;

/** Returns the entry of the bundle, as in the image. It is made once and removed at the end. */
function bundledProduct(): Promise<string> {
  made ??= make();
  return made;
}

async function make(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-cli-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundleCli(folder);
  return join(folder, 'shoot-flux.mjs');
}
