import { setTimeout as sleep } from 'node:timers/promises';
import { openSqsBridge } from '../../../events/sqs/bridge.ts';
import { startEmulator } from '../../../events/sqs/testing.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { startCommand } from '../../command-process.ts';
import { bundledProduct } from './bundled-product.ts';
import { SEED } from './objects.ts';
import { residentMb } from './process-usage.ts';

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
  const entry = await bundledProduct();
  const started = performance.now();
  const watch = await startCommand(
    [
      ...['watch', `--seed=${SEED}=${kubeconfigFile}`, `--queue-prefix=${PREFIX}`],
      ...[`--sqs-endpoint=${endpoint}`, '--log-level=warn'],
    ],
    { entry },
  );
  const { address, pid } = watch;
  try {
    let peakMb = 0;
    // What the pace holds back does not keep it from being ready.
    for (let sent = 0; sent < extensions; ) {
      sent = await sentChanges(address);
      peakMb = Math.max(peakMb, residentMb(pid));
      await sleep(250);
    }
    const sentSeconds = (performance.now() - started) / 1000;
    const listed = (await (await fetch(`${address}/readyz`)).text()).matchAll(/: (\d+) objects$/gm);
    const objects = [...listed].reduce((sum, [, count]) => sum + Number(count), 0);
    await sleep(IDLE_MS);
    const idleMb = residentMb(pid);
    return { idleMb, peakMb: Math.max(peakMb, idleMb), sentSeconds, objects };
  } finally {
    await watch.stop('SIGKILL');
    await stop();
  }
}

/** How many changes of Extensions `watch` has sent. */
async function sentChanges(address: string): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return Number(/^shoot_flux_watcher_changes_total\{function="managed-resources"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
