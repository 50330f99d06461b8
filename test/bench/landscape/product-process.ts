import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

const main = join(import.meta.dirname, '../../../infra/cli/main.ts');

/** A process with the command `run`. */
export interface ProductProcess extends AsyncDisposable {
  /** From the start of the process until `/readyz` says that the first sync is done. */
  readyAfterMs: number;
  /** Resident memory now, in MB; undefined where the system does not report it. */
  pid: number;
}

/** Starts the whole product like an operator, and waits until it is ready. */
export async function startProductProcess(kubeconfigFile: string, args: string[] = []): Promise<ProductProcess> {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...[...args, main, 'run', `--garden=${kubeconfigFile}`, `--seed=${SEED}=${kubeconfigFile}`],
      ...[`--flux-distribution=${fluxDistribution}`, '--port=0', '--log-level=warn'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const lines = createInterface({ input: child.stderr });
  const port = Promise.withResolvers<number>();
  lines.on('line', (line) => {
    const [, number] = /metrics on port (\d+)/.exec(line) ?? [];
    if (number !== undefined) port.resolve(Number(number));
    else if (process.env.BENCH_LOG !== undefined) process.stderr.write(`${line}\n`);
  });
  child.once('exit', (code) => port.reject(new Error(`The product ended with ${code} while it started.`)));
  const address = `http://127.0.0.1:${await port.promise}/readyz`;
  while (!(await answersOk(address))) await sleep(5);
  return {
    readyAfterMs: performance.now() - started,
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
