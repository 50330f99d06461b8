import { Worker } from 'node:worker_threads';
import { keyId } from '../../events/change.ts';
import type { Queue } from '../../events/queue/queue.ts';
import type { QueueFunction } from '../../events/run.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Context, Settings } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Outcome } from '../../shared/runtime/outcome.ts';
import type { Answerer } from '../webhooks/answer.ts';
import { errorOf, type FromThread, type Job, type ThreadData, type ToThread } from './thread-messages.ts';

/** What runs in the thread, and what it uses of its process by messages. */
export interface ThreadOptions {
  definitions: FunctionDefinition[];
  /** Kubeconfig files, or `in-cluster`, by cluster name. */
  kubeconfigs: Record<string, string>;
  settings: Settings;
  health: ClusterHealth;
  /** Takes what the functions send. */
  queue: Pick<Queue, 'send'>;
  log: Log;
  metrics: Metrics;
  /** Called when calls of a function to a cluster get no answer. */
  onSuspect(cluster: string): void;
  /** The code of the thread; tests replace it. */
  code?: URL | undefined;
}

/** Limits of answers and documents bound what is not counted here, such as Buffers. */
const MOST_HEAP_MB = 128;
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: MOST_HEAP_MB, maxYoungGenerationSizeMb: 16 };

const CODE = new URL('./functions-thread.ts', import.meta.url);

const CHECK_MS = 250;

/** So many checks without a beat, 2 s, mean that the thread is stuck, unless this process was: so they are counted. */
const MOST_SILENT_CHECKS = 8;

/** While one run after the other continues, the thread only has much to do, and its end would interrupt all of them. */
const MOST_BUSY_CHECKS = 32;

/** Until its first beat, in 60 s; loading the code takes seconds on a busy machine. */
const MOST_START_CHECKS = 240;

/**
 * A check counts in full if this process used half a processor since the one before, and otherwise in proportion: on a
 * busy machine, or where a container is throttled, a thread may get none for seconds without being stuck. It counts at
 * least so much, because a thread may also wait for ever without using any.
 */
const LEAST_CHECK = 0.1;

/** Pauses before the next attempt to start a thread that did not start. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** One may fail to start for want of memory that is free in a moment. */
const MOST_FAILED_STARTS = 3;

/** What runs in more threads that are ended, one after the other, may be what blocks them, whatever executed last. */
const MOST_SURVIVED = 2;

interface Waiting {
  job: Job;
  signal: AbortSignal;
  resolve(message: FromThread): void;
  reject(error: unknown): void;
  /** How many threads were ended while this ran in them. */
  survived: number;
}

/**
 * Runs functions, and answers reviews, in a thread. A thread that is stuck, or needs too much memory, is replaced at
 * once. What blocked it fails, and the queue retries it later; everything else that was running runs again.
 */
export function startThreadedFunctions(options: ThreadOptions) {
  const { definitions, kubeconfigs, settings, health, queue, log, metrics, code = CODE } = options;
  const waiting = new Map<number, Waiting>();
  /** Why the last run of a key was ended, by function and key. */
  const endings = new Map<string, string>();
  let jobs = 0;
  let failedStarts = 0;
  let isStopped = false;
  metrics.count('functions_restarts_total', {}, 0);

  /** Starts a thread that takes over all jobs. */
  const begin = (): Worker => {
    const [beats, executing] = [new Int32Array(new SharedArrayBuffer(4)), new Int32Array(new SharedArrayBuffer(4))];
    const workerData: ThreadData = { kubeconfigs, settings, beats, executing };
    const thread = new Worker(code, { workerData, resourceLimits: RESOURCE_LIMITS, name: 'functions' });
    const started = { is: false };
    let isOver = false;
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      stopChecking();
      // Without waiting: code of the system, such as a check of a prime, ends only when it is done.
      void thread.terminate();
      if (!isStopped) replace(reason, started.is, Atomics.load(executing, 0));
    };
    const stopChecking = checkBeats({ beats, executing }, started, () => end(BUSY));
    let reason = 'ended the thread of the functions unexpectedly';
    thread.on('message', (messages: FromThread[]) => {
      for (const message of messages) {
        // Who has sent changes believes that they were taken.
        if (isOver && message.type !== 'send') continue;
        if (message.type === 'started') {
          started.is = true;
          failedStarts = 0;
        } else take(message);
      }
    });
    thread.on('error', (error: NodeJS.ErrnoException | undefined) => {
      const isOutOfMemory = error?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      reason = isOutOfMemory ? `needed more than ${MOST_HEAP_MB} MB of memory` : `failed: ${describeError(error)}`;
    });
    thread.once('exit', () => end(reason));
    for (const { cluster, isUp, problem } of health.status()) {
      if (!isUp) thread.postMessage({ type: 'cluster', cluster, problem } satisfies ToThread);
    }
    for (const { job, signal, reject } of waiting.values()) {
      // What nobody waits for any more does not run again.
      if (signal.aborted) reject(new RetryableError(`${nameOf(job)} was interrupted, and its time is over.`));
      else thread.postMessage(job);
    }
    return thread;
  };

  const replace = (reason: string, hadStarted: boolean, executing: number) => {
    const blamed = hadStarted ? findBlamed(waiting, executing) : undefined;
    const job = blamed?.job;
    const key = job?.type === 'run' ? job.key : undefined;
    const fields = { ...(job && { function: job.function }), ...(key && { key: keyText(key) }) };
    log.error('functions restart', { ...fields, error: reason, interrupted: waiting.size });
    metrics.count('functions_restarts_total');
    if (job?.type === 'run') endings.set(keyId(job), reason);
    const ending = key === undefined ? 'it was ended.' : 'its run was ended; it is retried later.';
    if (job) blamed?.reject(new RetryableError(`${nameOf(job)} ${reason}, so ${ending}`));
    for (const [id, each] of hadStarted ? waiting : []) {
      each.survived += 1;
      const isSuspect = each.survived > MOST_SURVIVED && each !== blamed;
      if (isSuspect)
        each.reject(new RetryableError(`${nameOf(each.job)} ran in ${each.survived} threads that had to be replaced.`));
      if (isSuspect || each === blamed) waiting.delete(id);
    }
    if (hadStarted) worker = begin();
    else {
      restart = setTimeout(() => (worker = begin()), Math.min(FIRST_PAUSE_MS * 2 ** failedStarts, LONGEST_PAUSE_MS));
      failedStarts += 1;
    }
  };

  const take = (message: FromThread) => {
    switch (message.type) {
      case 'line':
        return log[message.level](message.message, message.fields);
      case 'number':
        if (message.kind === 'count') return metrics.count(message.name, message.labels, message.value);
        return metrics[message.kind](message.name, message.value, message.labels);
      case 'send':
        return void queue.send(message.changes);
      case 'suspect':
        return options.onSuspect(message.cluster);
      case 'up':
        return health.declare(message.cluster, undefined);
      case 'failed':
        return waiting.get(message.id)?.reject(errorOf(message.error));
      case 'ran':
      case 'answered':
        return waiting.get(message.id)?.resolve(message);
    }
  };

  const submit = async (job: Job, signal: AbortSignal): Promise<FromThread> => {
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>();
    waiting.set(job.id, { job, signal, resolve, reject, survived: 0 });
    worker.postMessage(job);
    const abort = () => worker.postMessage({ type: 'abort', id: job.id } satisfies ToThread);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      waiting.delete(job.id);
      signal.removeEventListener('abort', abort);
    }
  };

  const run = async (name: string, key: ReconcileKey, context: Context): Promise<Outcome> => {
    const id = keyId({ function: name, key });
    const endedBefore = endings.get(id);
    endings.delete(id);
    const job: Job = { type: 'run', id: ++jobs, function: name, key, causes: context.causes, endedBefore };
    const message = await submit(job, context.signal);
    if (message.type !== 'ran') throw new TypeError(`A run ended with ${message.type}.`);
    return message.outcome;
  };

  let restart: NodeJS.Timeout | undefined;
  let worker = begin();
  const stopListening = health.onChange((cluster, isUp) => {
    const problem = isUp ? undefined : health.status().find((status) => status.cluster === cluster)?.problem;
    worker.postMessage({ type: 'cluster', cluster, problem } satisfies ToThread);
  });

  return {
    functions: definitions.map(
      (definition): QueueFunction => ({ definition, handler: (key, context) => run(definition.name, key, context) }),
    ),
    /** Returns what answers the reviews of a webhook function. */
    answererOf:
      (name: string): Answerer =>
      async (body, signal) => {
        const message = await submit({ type: 'review', id: ++jobs, function: name, body }, signal);
        if (message.type !== 'answered') throw new TypeError(`A review ended with ${message.type}.`);
        return message.answer;
      },
    /** Returns false if threads fail to start, one after the other: only a new process may help. */
    alive: () => failedStarts < MOST_FAILED_STARTS,
    /** Ends the thread; end what runs in it first. */
    async stop(): Promise<void> {
      isStopped = true;
      stopListening();
      clearTimeout(restart);
      await worker.terminate();
    },
  };
}

/** Calls `onSilence` once the thread has shown no progress for too long. Returns a function that ends the checks. */
function checkBeats(
  { beats, executing }: Pick<ThreadData, 'beats' | 'executing'>,
  started: { is: boolean },
  onSilence: () => void,
): () => void {
  let last = { beat: 0, id: 0 };
  let silentChecks = 0;
  let checksOfRun = 0;
  let used = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    used = process.cpuUsage();
    const check = started.is ? Math.min(Math.max((user + system) / 1000 / (CHECK_MS / 2), LEAST_CHECK), 1) : 1;
    const now = { beat: Atomics.load(beats, 0), id: Atomics.load(executing, 0) };
    silentChecks = now.beat === last.beat ? silentChecks + check : 0;
    checksOfRun = now.id === last.id ? Math.min(checksOfRun + check, silentChecks) : 0;
    last = now;
    const isStuck = checksOfRun >= MOST_SILENT_CHECKS || silentChecks >= MOST_BUSY_CHECKS;
    if (started.is ? isStuck : silentChecks >= MOST_START_CHECKS) onSilence();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns the job that occupied the thread: the one that executed last, or the only one. */
function findBlamed(waiting: ReadonlyMap<number, Waiting>, executing: number): Waiting | undefined {
  const [first] = waiting.values();
  return waiting.get(executing) ?? (waiting.size === 1 ? first : undefined);
}

const BUSY = 'kept shoot-flux busy for more than 2 s';

function nameOf(job: Job): string {
  return job.type === 'run' ? keyText(job.key) : `The request to ${job.function}`;
}
