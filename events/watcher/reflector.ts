import { errorMessage } from '../../shared/errors.ts';
import { yieldToOthers } from '../../shared/event-loop.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { GoneError, KubeError } from '../../shared/kube/errors.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { type Backoff, createBackoff } from '../backoff.ts';
import { abortable, createLister, StartOverError } from './lister.ts';
import type { Selection } from './selections.ts';
import { between, type Timing } from './timing.ts';
import type { Tracker } from './tracker.ts';

/** The health of clusters, as far as the watcher needs it. */
export type WatchedHealth = Pick<ClusterHealth, 'isUp' | 'onChange' | 'untilUp'>;

/** Keeps a tracker up to date with one selection. */
export type Reflector = ReturnType<typeof createReflector>;

/** What a reflector follows, and where it reports. */
export interface ReflectorOptions {
  selection: Selection;
  tracker: Tracker;
  kube(cluster: string): Promise<KubeClient>;
  /** Absent: clusters are asked again after a back-off, whether they answer or not. */
  health?: WatchedHealth | undefined;
  /** Called after each complete list. */
  onListed(): void;
  /** Called for an object that cannot be read, and is skipped. */
  onUnreadable(error: Error): void;
  /** Called after each failure. */
  onFailed(error: unknown): void;
  log: Log;
  metrics: Metrics;
  timing: Timing;
}

/** Lists one selection of a cluster and watches it from there, as long as the watcher runs. */
export function createReflector(options: ReflectorOptions) {
  const { selection, tracker, health, timing, metrics } = options;
  const { cluster, namespace, resource, metadataOnly, labelSelector, fieldSelector } = selection;
  const labels = { cluster, resource: resource.plural };
  const log = options.log.with(labels);
  const backoff = createBackoff(timing.backoffMs, timing.backoffCapMs);
  const listBackoff = createBackoff(timing.backoffMs, timing.backoffCapMs);
  /** Where the next watch continues. */
  let resourceVersion: string | undefined;
  let mustList = true;
  /** Ends the watch under way. */
  let quit = new AbortController();
  /** Ends the listing of the pages after the first, and resolves when that has ended. */
  let endRest = async () => {};
  /** Watches in a row that brought nothing. */
  let fruitless = 0;
  let problem: string | undefined;
  let listProblem: string | undefined;
  let lastProgress = performance.now();
  let waits = 0;

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        const client = await abortable(options.kube(cluster), signal);
        if (mustList || resourceVersion === undefined) await list(client, signal);
        else await watch(client, resourceVersion, signal);
      } catch (error) {
        if (!signal.aborted) await recover(error, signal);
      }
    }
    await endRest();
  };

  const lister = createLister(selection, tracker, {
    onProgress(take) {
      lastProgress = performance.now();
      listProblem = undefined;
      take();
    },
    onPage: listBackoff.reset,
    onUnreadable: options.onUnreadable,
  });

  /** Returns when a watch can begin. */
  const list = async (client: KubeClient, signal: AbortSignal) => {
    await endRest();
    resourceVersion = await lister.first(client, signal);
    mustList = false;
    progressed();
    if (lister.isComplete()) return listed();
    const end = new AbortController();
    const rest = listRest(AbortSignal.any([signal, end.signal]));
    endRest = () => {
      end.abort();
      return rest;
    };
  };

  /** Lists the pages after the first beside the watch: gardenlet does not wait until 10,000 objects are listed. */
  const listRest = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        await lister.rest(await abortable(options.kube(cluster), signal), signal);
        return listed();
      } catch (error) {
        if (signal.aborted) return;
        listProblem = errorMessage(error);
        await recoverFrom(error, listBackoff, signal);
        if (!(error instanceof StartOverError)) continue;
        mustList = true;
        return quit.abort('list');
      }
    }
  };

  const listed = () => {
    metrics.count('watcher_lists_total', labels);
    options.onListed();
  };

  const watch = async (client: KubeClient, from: string, signal: AbortSignal) => {
    const own = new AbortController();
    quit = own;
    const timer = setTimeout(() => own.abort('silent'), between(timing.inactivityMs));
    // Over an old connection, the events of a cluster that was away arrive minutes later, if at all.
    const ignore = health?.onChange((changed) => changed === cluster && own.abort('health'));
    const started = performance.now();
    let hasAdvanced = false;
    let end = 'failed';
    try {
      const events = client.watch(resource, {
        namespace,
        metadataOnly,
        labelSelector,
        fieldSelector,
        resourceVersion: from,
        timeoutSeconds: Math.round(between(timing.watchSeconds)),
        onUnreadable(error) {
          timer.refresh();
          options.onUnreadable(error);
        },
        signal: AbortSignal.any([signal, own.signal]),
      });
      for await (const { type, object } of events) {
        timer.refresh();
        progressed();
        if (type === 'DELETED') tracker.remove(object);
        else if (type !== 'BOOKMARK') tracker.observe(object);
        if (object.metadata.resourceVersion) {
          resourceVersion = object.metadata.resourceVersion;
          hasAdvanced = true;
          fruitless = 0;
          backoff.reset();
        }
        await yieldToOthers();
      }
      if (!own.signal.aborted) end = 'ended';
      else if (own.signal.reason === 'silent') end = 'silent';
    } finally {
      clearTimeout(timer);
      ignore?.();
      if (performance.now() - started >= timing.shortWatchMs) backoff.reset();
      metrics.count('watcher_watches_total', { ...labels, end });
    }
    const isShort =
      performance.now() - started < timing.shortWatchMs && !['health', 'list'].includes(own.signal.reason);
    if (end === 'silent' || (isShort && !hasAdvanced)) brokenOff();
    else progressed();
    // Without a wait, a server that ends every watch at once would be asked in a loop.
    if (isShort) await waiting(sleep(backoff.next(), signal));
  };

  /** Counts a watch that brought nothing. A watch may be dead although it can be opened: then only a list helps. */
  const brokenOff = () => {
    fruitless++;
    lastProgress = performance.now();
    if (fruitless % timing.silentWatches !== 0) return;
    mustList = true;
    log.warn('watches bring nothing', { watches: fruitless });
  };

  const recover = async (error: unknown, signal: AbortSignal) => {
    problem = errorMessage(error);
    if (!mustList && isOfWatch(error)) brokenOff();
    if (error instanceof GoneError) mustList = true;
    await recoverFrom(error, backoff, signal);
  };

  /** Waits after a failure: for the cluster if it is down, else as long as the server or the back-off says. */
  const recoverFrom = async (error: unknown, pauses: Backoff, signal: AbortSignal) => {
    options.onFailed(error);
    const delay = pauses.next(error instanceof KubeError ? error.retryAfterSeconds : undefined);
    const isDown = health?.isUp(cluster) === false;
    const fields = { error: errorMessage(error), ...(!isDown && { retryInMs: Math.round(delay) }) };
    if (error instanceof GoneError) log.info('watch expired', fields);
    else log.warn('list or watch failed', fields);
    await waiting(isDown ? health.untilUp(cluster, signal) : sleep(delay, signal));
  };

  const waiting = async (wait: Promise<void>) => {
    waits++;
    await wait;
    waits--;
    lastProgress = performance.now();
  };

  const progressed = () => {
    lastProgress = performance.now();
    problem = undefined;
  };

  return {
    /** Returns when the signal aborts; never throws. */
    run,
    /** Returns why it makes no progress; undefined while it does. */
    problem(): string | undefined {
      const current = problem ?? listProblem;
      if (current !== undefined || fruitless < timing.silentWatches) return current;
      return `the last ${fruitless} watches brought no event and no bookmark; the objects are listed regularly instead`;
    },
    /**
     * Returns when it last received an object, a page, an event, a bookmark or an error, or now while it waits for a known
     * time or cluster; by `performance.now()`.
     */
    lastProgress: () => (waits > 0 ? performance.now() : lastProgress),
  };
}

/** True if the API server answered, but the watch cannot be read or was refused; it may be the same the next time. */
function isOfWatch(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  if (error.status === 0) return error.reason === 'InvalidAnswer';
  return error.retryAfterSeconds === undefined && ![401, 403, 404, 410, 429].includes(error.status);
}
