import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleCli } from '../../../infra/bundle/bundle-cli.ts';
import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { type CommandProcess, startCommand } from '../../command-process.ts';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

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
): Promise<CommandProcess> {
  const entry = await bundledProduct();
  const seeds = Object.entries({ [SEED]: kubeconfigFile, ...otherSeeds }).map(
    ([name, file]) => `--seed=${name}=${file}`,
  );
  const level = onLog === undefined ? 'warn' : 'info';
  const command = startCommand(
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
  while ((await command.page('/readyz')).status !== 200 && untilReady) await sleep(5);
  return command;
}

/** A request that takes longer counts with this time. */
const ANSWER_MS = 60_000;

/** Asks for a reconciliation as gardenlet does, and returns the milliseconds until it is answered. */
export async function askForReconciliation(
  client: Pick<KubeClient, 'find' | 'mergePatch'>,
  namespace: string,
  isAnswered: (extension: Extension) => boolean = () => true,
): Promise<number> {
  const key = { namespace, name: 'shoot-flux' };
  const started = performance.now();
  const annotations = { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
  const patch = { metadata: { annotations } };
  await client.mergePatch(resources.extensions, key, patch, { fieldManager: 'bench' });
  while (performance.now() - started < ANSWER_MS) {
    const live = await client.find<Extension>(resources.extensions, key);
    const isPending = live?.metadata.annotations?.[OPERATION_ANNOTATION] !== undefined;
    if (live !== undefined && !isPending && isAnswered(live)) break;
    await sleep(20);
  }
  return performance.now() - started;
}

let made: Promise<string> | undefined;

/** Returns the entry of the bundle, as in the image. It is made once and removed at the end. */
function bundledProduct(): Promise<string> {
  made ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-cli-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    await bundleCli(folder);
    return join(folder, 'shoot-flux.mjs');
  })();
  return made;
}

/** Clock ticks of `/proc/<pid>/stat` in a second; Linux has had 100 on every architecture that Node.js supports. */
const TICKS = 100;

/** Returns the CPU time that a process has used, in seconds. */
export function cpuSeconds(pid: number): number {
  // The program's name, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Returns the resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
