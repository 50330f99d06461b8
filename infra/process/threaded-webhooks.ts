import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ShootFluxError } from '../../shared/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Webhooks, WebhooksStatus } from '../webhooks/webhooks.ts';
import type { WebhookSettings } from './webhooks.ts';
import { receive, type ThreadData, type ThreadedOptions, type ThreadMessage } from './webhooks-messages.ts';

/** Parts of the process that the thread uses by messages. */
export interface ThreadDependencies {
  settings: WebhookSettings;
  log: Log;
  metrics: Metrics;
  /** The code of the thread; tests replace it. */
  code?: URL;
  /** How often the thread is checked. Default: every second. */
  checkMs?: number;
}

/** Enough for the largest requests; a thread that needs more ends, and the process does not. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

const CHECK_MS = 1000;

const CODE = new URL('./webhooks-thread.ts', import.meta.url);

/**
 * After so many checks in a row without its status, the thread is stuck: API servers wait 10 s for an answer. Checks are
 * counted instead of seconds, because the process may have been the one that was stuck.
 */
const MOST_SILENT_CHECKS = 10;

/** Until it listens; loading the code takes seconds on a busy machine. */
const MOST_START_CHECKS = 60;

/** Pauses before a restart. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** A thread that has served for so long starts without a longer pause. */
const STABLE_MS = 60_000;

/** Answers in progress need 10 s at most. */
const STOP_MS = 12_000;

/** One life of the thread. */
interface Life {
  worker: Worker;
  port: number;
  /** Resolves with the reason when the thread has ended. */
  ended: Promise<string>;
}

/**
 * Serves the webhooks in a thread of their own, so that they answer while the functions use this one. A thread that ends
 * or is stuck is replaced. Returns when it listens.
 * @throws ShootFluxError when the webhooks cannot be served, for example because the port is taken
 */
export async function startThreadedWebhooks(
  options: ThreadedOptions,
  dependencies: ThreadDependencies,
): Promise<Webhooks> {
  const { log, metrics } = dependencies;
  const ending = new AbortController();
  let status: WebhooksStatus = { ready: false, problems: ['the thread has not started yet'] };
  const use = (next: WebhooksStatus) => {
    status = next;
  };
  metrics.count('webhook_restarts_total', {}, 0);
  let life = await begin(options, dependencies, use);
  const { port } = life;

  const keepAlive = async () => {
    let pauseMs = FIRST_PAUSE_MS;
    let reason = await life.ended;
    while (!ending.signal.aborted) {
      use({ ready: false, problems: [`the thread has ended (${reason}) and starts again.`] });
      log.error('webhooks restart', { error: reason, afterMs: pauseMs });
      metrics.count('webhook_restarts_total');
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      const beganAt = performance.now();
      try {
        life = await begin({ ...options, port }, dependencies, use);
        if (ending.signal.aborted) life.worker.postMessage('stop');
        reason = await life.ended;
      } catch (error) {
        reason = describeError(error);
      }
      const isStable = performance.now() - beganAt > STABLE_MS;
      pauseMs = isStable ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  };
  const keptAlive = keepAlive();

  return {
    port,
    status: () => status,
    async stop() {
      ending.abort();
      life.worker.postMessage('stop');
      const limit = setTimeout(() => void life.worker.terminate(), STOP_MS);
      await keptAlive;
      clearTimeout(limit);
    },
  };
}

/** Starts the thread and waits until it listens. */
async function begin(
  options: ThreadedOptions,
  { settings: { seeds, defaults, policy }, code = CODE, checkMs = CHECK_MS, ...targets }: ThreadDependencies,
  use: (status: WebhooksStatus) => void,
): Promise<Life> {
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  const data: ThreadData = { options, settings: { seeds, defaults, policy }, waiting };
  const worker = new Worker(code, {
    workerData: data,
    resourceLimits: RESOURCE_LIMITS,
    name: 'webhooks',
  });
  const listening = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  let silentChecks = 0;
  let mostSilentChecks = MOST_START_CHECKS;
  let reason = 'it ended unexpectedly';
  worker.on('message', (message: ThreadMessage) => {
    silentChecks = 0;
    if (message.type === 'listening') {
      mostSilentChecks = MOST_SILENT_CHECKS;
      listening.resolve(message.port);
    } else if (message.type === 'refused') listening.reject(new ShootFluxError(message.sentence));
    else if (message.type === 'status') use(message.status);
    else receive(message, targets, waiting);
  });
  worker.on('error', (error) => {
    reason = isOutOfMemory(error) ? 'it needed too much memory' : describeError(error);
  });
  const checking = setInterval(() => {
    silentChecks += 1;
    if (silentChecks < mostSilentChecks) return;
    reason = 'it was stuck';
    void worker.terminate();
  }, checkMs).unref();
  worker.once('exit', () => {
    clearInterval(checking);
    listening.reject(new ShootFluxError(`The thread of the webhooks did not start: ${reason}.`));
    ended.resolve(reason);
  });
  try {
    return { worker, port: await listening.promise, ended: ended.promise };
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
