import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

const main = join(import.meta.dirname, '../../../infra/cli/shoot-flux.js');

/** A process with the command `run`. */
export interface ProductProcess extends AsyncDisposable {
  /** From the start of the process until `/readyz` says that the first sync is done. */
  readyAfterMs: number;
  /** Where probes and metrics are, for example `http://127.0.0.1:40123`. */
  address: string;
  pid: number;
}

/** What a process serves, and when its start is over. */
export interface ProductProcessOptions {
  /** Kubeconfig files of further seeds by name. */
  otherSeeds?: Record<string, string>;
  /** False: the promise resolves as soon as the process listens, before its first lists are complete. */
  untilReady?: boolean;
  /** Called with each line of the log. */
  onLog?(line: string): void;
}

/** Starts the whole product like an operator, and waits until it is ready. */
export async function startProductProcess(
  kubeconfigFile: string,
  { otherSeeds = {}, untilReady = true, onLog }: ProductProcessOptions = {},
): Promise<ProductProcess> {
  const started = performance.now();
  const seeds = Object.entries({ [SEED]: kubeconfigFile, ...otherSeeds }).map(
    ([name, file]) => `--seed=${name}=${file}`,
  );
  const level = onLog === undefined ? 'warn' : 'info';
  const child = spawn(
    process.execPath,
    [
      ...[main, 'run', `--garden=${kubeconfigFile}`, ...seeds],
      ...[`--flux-distribution=${fluxDistribution}`, '--port=0', `--log-level=${level}`],
    ],
    // As `npm run shoot-flux` sets it.
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, MALLOC_ARENA_MAX: '1' } },
  );
  const lines = createInterface({ input: child.stderr });
  const port = Promise.withResolvers<number>();
  lines.on('line', (line) => {
    const [, number] = /metrics on port (\d+)/.exec(line) ?? [];
    if (number !== undefined) port.resolve(Number(number));
    else if (process.env.BENCH_LOG !== undefined) process.stderr.write(`${line}\n`);
    onLog?.(line);
  });
  child.once('exit', (code) => port.reject(new Error(`The product ended with ${code} while it started.`)));
  const address = `http://127.0.0.1:${await port.promise}`;
  while (untilReady && !(await answersOk(`${address}/readyz`))) await sleep(5);
  return {
    readyAfterMs: performance.now() - started,
    address,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function answersOk(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  get(url, { agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  }).on('error', () => resolve(false));
  return promise;
}
