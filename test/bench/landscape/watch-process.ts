import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqsBridge } from '../../../events/sqs/bridge.ts';
import { startEmulator } from '../../../events/sqs/testing.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { SEED } from './objects.ts';
import { residentMb } from './process-usage.ts';

const entry = join(import.meta.dirname, '../../../infra/cli/shoot-flux.js');
const PREFIX = 'shoot-flux-bench-';

/** How long after its last change the process counts as idle. */
const IDLE_MS = 20_000;

export interface WatchMeasured {
  /** Resident memory while nothing happens. */
  idleMb: number;
  /** The most at any time. */
  peakMb: number;
  /** From the start until a change of every Extension was in the queue, at the pace for SQS. */
  sentSeconds: number;
  objects: number;
}

/** Starts `watch` for one seed with queues in SQS like an operator, and waits until it has sent everything. */
export async function measureWatch(kubeconfigFile: string, extensions: number): Promise<WatchMeasured> {
  const { endpoint, stop } = await startEmulator();
  const log = createLog('error', () => {});
  await (await openSqsBridge({ definitions: await findDefinitions(), log, endpoint, prefix: PREFIX })).stop();
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...[entry, 'watch', `--seed=${SEED}=${kubeconfigFile}`, `--queue-prefix=${PREFIX}`],
      ...[`--sqs-endpoint=${endpoint}`, '--port=0', '--log-level=warn'],
    ],
    // As the image sets it.
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, MALLOC_ARENA_MAX: '1' } },
  );
  const ended = once(child, 'exit');
  try {
    const port = Promise.withResolvers<string>();
    createInterface({ input: child.stderr }).on('line', (line) => {
      const [, number] = /metrics on port (\d+)/.exec(line) ?? [];
      if (number !== undefined) port.resolve(number);
    });
    child.once('exit', (code) => port.reject(new Error(`watch ended with ${code} while it started.`)));
    const address = `http://127.0.0.1:${await port.promise}`;
    let peakMb = 0;
    // What the pace holds back does not keep it from being ready.
    for (let sent = 0; sent < extensions; ) {
      sent = await sentChanges(address);
      peakMb = Math.max(peakMb, residentMb(child.pid ?? 0));
      await sleep(250);
    }
    const sentSeconds = (performance.now() - started) / 1000;
    const listed = (await (await fetch(`${address}/readyz`)).text()).matchAll(/: (\d+) objects$/gm);
    const objects = [...listed].reduce((sum, [, count]) => sum + Number(count), 0);
    await sleep(IDLE_MS);
    const idleMb = residentMb(child.pid ?? 0);
    return { idleMb, peakMb: Math.max(peakMb, idleMb), sentSeconds, objects };
  } finally {
    child.kill('SIGKILL');
    await ended;
    await stop();
  }
}

/** How many changes of Extensions `watch` has sent. */
async function sentChanges(address: string): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return Number(/^shoot_flux_watcher_changes_total\{function="managed-resources"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
