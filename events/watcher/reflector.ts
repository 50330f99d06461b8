import { errorMessage } from '../../shared/errors.ts';
import type { KubeClient, ListOptions } from '../../shared/kube/client.ts';
import { GoneError, KubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createBackoff } from './backoff.ts';
import type { Selection } from './selections.ts';
import { between, type Timing } from './timing.ts';
import type { Tracker } from './tracker.ts';

/** Keeps a tracker up to date with one selection. */
export interface Reflector {
  /** Returns when the signal aborts; never throws. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns why it makes no progress; undefined while it does. */
  problem(): string | undefined;
  /** Returns when it last received a page, an event, a bookmark or an error; epoch ms. */
  lastProgress(): number;
}

/** What a reflector follows, and where it reports. */
export interface ReflectorOptions {
  selection: Selection;
  tracker: Tracker;
  kube(cluster: string): Promise<KubeClient>;
  /** Called after each complete list. */
  onListed(): void;
  log: Log;
  metrics: Metrics;
  timing: Timing;
}

/** Pages of this size keep memory flat for any number of objects. */
const pageSize = 500;

/** Lists one selection of a cluster and watches it from there, as long as the watcher runs. */
export function createReflector(options: ReflectorOptions): Reflector {
  const { selection, tracker, timing, metrics } = options;
  const labels = { cluster: selection.cluster, resource: selection.resource.plural };
  const log = options.log.with(labels);
  const backoff = createBackoff(timing.backoffMs, timing.backoffCapMs);
  const { metadataOnly, labelSelector, fieldSelector } = selection;
  /** Where the next watch continues; undefined: list first. */
  let resourceVersion: string | undefined;
  let problem: string | undefined;
  let lastProgress = Date.now();

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        const client = await abortable(options.kube(selection.cluster), signal);
        if (resourceVersion === undefined) await list(client, signal);
        else await watch(client, resourceVersion, signal);
      } catch (error) {
        if (!signal.aborted) await recover(error, signal);
      }
    }
  };

  const list = async (client: KubeClient, signal: AbortSignal) => {
    const vanished = tracker.beginList();
    const onItem = (object: KubeObject) => tracker.observe(object);
    const base: ListOptions = { limit: pageSize, metadataOnly, labelSelector, fieldSelector, onItem };
    let next: string | undefined;
    let version: string;
    do {
      const page = await abortable(client.list(selection.resource, { ...base, continue: next }), signal);
      progressed();
      next = page.continue;
      version = page.resourceVersion;
    } while (next !== undefined);
    vanished.complete(version);
    resourceVersion = version;
    metrics.count('watcher_lists_total', labels);
    options.onListed();
  };

  const watch = async (client: KubeClient, from: string, signal: AbortSignal) => {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), between(timing.inactivityMs));
    const started = Date.now();
    let end = 'failed';
    try {
      const events = client.watch(selection.resource, {
        metadataOnly,
        labelSelector,
        fieldSelector,
        resourceVersion: from,
        timeoutSeconds: Math.round(between(timing.watchSeconds)),
        signal: AbortSignal.any([signal, silence.signal]),
      });
      for await (const { type, object } of events) {
        timer.refresh();
        progressed();
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type === 'BOOKMARK') continue;
        if (type === 'DELETED') tracker.remove(object);
        else tracker.observe(object);
        backoff.reset();
      }
      end = silence.signal.aborted ? 'silent' : 'ended';
    } finally {
      clearTimeout(timer);
      if (Date.now() - started >= timing.shortWatchMs) backoff.reset();
      metrics.count('watcher_watches_total', { ...labels, end });
    }
    progressed();
    // Without a wait, a server that ends every watch at once would be asked in a loop.
    if (Date.now() - started < timing.shortWatchMs) await sleep(backoff.next(), signal);
  };

  const recover = async (error: unknown, signal: AbortSignal) => {
    if (error instanceof GoneError) resourceVersion = undefined;
    const delay = backoff.next(error instanceof KubeError ? error.retryAfterSeconds : undefined);
    lastProgress = Date.now();
    problem = errorMessage(error);
    const fields = { error: problem, retryInMs: Math.round(delay) };
    if (error instanceof GoneError) log.info('watch expired', fields);
    else log.warn('list or watch failed', fields);
    await sleep(delay, signal);
  };

  const progressed = () => {
    lastProgress = Date.now();
    problem = undefined;
  };

  return {
    run,
    problem: () => problem,
    lastProgress: () => lastProgress,
  };
}

/** Returns the promise's result; rejects at once when the signal aborts. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
