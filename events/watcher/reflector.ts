import { errorMessage } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { GoneError, KubeError } from '../../shared/kube/errors.ts';
import { yieldToOthers } from '../../shared/kube/event-loop.ts';
import { enter, leave } from '../../shared/runtime/activity.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createBackoff } from './backoff.ts';
import { abortable, createLister } from './lister.ts';
import type { Selection } from './selections.ts';
import { between, type Timing } from './timing.ts';
import type { Tracker } from './tracker.ts';

/** The health of clusters, as far as the watcher needs it. */
export type WatchedHealth = Pick<ClusterHealth, 'isUp' | 'onChange' | 'untilUp'>;

/** Keeps a tracker up to date with one selection. */
export interface Reflector {
  /** Returns when the signal aborts; never throws. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns why it makes no progress; undefined while it does. */
  problem(): string | undefined;
  /**
   * Returns when it last received an object, a page, an event, a bookmark or an error, or now while it waits for a known
   * time or cluster; by `performance.now()`.
   */
  lastProgress(): number;
}

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
export function createReflector(options: ReflectorOptions): Reflector {
  const { selection, tracker, health, timing, metrics } = options;
  const { cluster, resource, metadataOnly, labelSelector, fieldSelector } = selection;
  const labels = { cluster, resource: resource.plural };
  const activity = { function: 'watcher', key: `${cluster}/${resource.plural}` };
  const log = options.log.with(labels);
  const backoff = createBackoff(timing.backoffMs, timing.backoffCapMs);
  /** Where the next watch continues; undefined: list first. */
  let resourceVersion: string | undefined;
  /** The next watch is followed by a list. */
  let hasGaps = false;
  /** Watches in a row that brought nothing. */
  let fruitless = 0;
  let problem: string | undefined;
  let lastProgress = performance.now();
  let isWaiting = false;

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        const client = await abortable(options.kube(cluster), signal);
        if (resourceVersion === undefined) await list(client, signal);
        else await watch(client, resourceVersion, signal);
      } catch (error) {
        if (!signal.aborted) await recover(error, signal);
      }
    }
  };

  const lister = createLister(selection, tracker, {
    onObject() {
      enter(activity);
      progressed();
    },
    onPage: backoff.reset,
    onUnreadable: options.onUnreadable,
  });

  const list = async (client: KubeClient, signal: AbortSignal) => {
    const listed = await lister.list(client, signal);
    resourceVersion = listed.resourceVersion;
    hasGaps = !listed.isConsistent;
    metrics.count('watcher_lists_total', labels);
    options.onListed();
  };

  const watch = async (client: KubeClient, from: string, signal: AbortSignal) => {
    const quit = new AbortController();
    const timer = setTimeout(() => quit.abort('silent'), between(timing.inactivityMs));
    // Over an old connection, the events of a cluster that was away arrive minutes later, if at all.
    const ignore = health?.onChange((changed) => changed === cluster && quit.abort('health'));
    const started = performance.now();
    let hasAdvanced = false;
    let end = 'failed';
    try {
      const events = client.watch(resource, {
        metadataOnly,
        labelSelector,
        fieldSelector,
        resourceVersion: from,
        timeoutSeconds: Math.round(between(timing.watchSeconds)),
        onUnreadable(error) {
          timer.refresh();
          options.onUnreadable(error);
        },
        signal: AbortSignal.any([signal, quit.signal]),
      });
      for await (const { type, object } of events) {
        enter(activity);
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
        leave(activity);
        await yieldToOthers();
      }
      if (!quit.signal.aborted) end = 'ended';
      else if (quit.signal.reason === 'silent') end = 'silent';
    } finally {
      clearTimeout(timer);
      ignore?.();
      if (performance.now() - started >= timing.shortWatchMs) backoff.reset();
      if (hasGaps) resourceVersion = undefined;
      metrics.count('watcher_watches_total', { ...labels, end });
    }
    const isShort = performance.now() - started < timing.shortWatchMs && quit.signal.reason !== 'health';
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
    resourceVersion = undefined;
    log.warn('watches bring nothing', { watches: fruitless });
  };

  const recover = async (error: unknown, signal: AbortSignal) => {
    problem = errorMessage(error);
    options.onFailed(error);
    if (resourceVersion !== undefined && isOfWatch(error)) brokenOff();
    if (error instanceof GoneError) resourceVersion = undefined;
    const delay = backoff.next(error instanceof KubeError ? error.retryAfterSeconds : undefined);
    const isDown = health?.isUp(cluster) === false;
    const fields = { error: problem, ...(!isDown && { retryInMs: Math.round(delay) }) };
    if (error instanceof GoneError) log.info('watch expired', fields);
    else log.warn('list or watch failed', fields);
    await waiting(isDown ? health.untilUp(cluster, signal) : sleep(delay, signal));
  };

  const waiting = async (wait: Promise<void>) => {
    isWaiting = true;
    await wait;
    isWaiting = false;
    lastProgress = performance.now();
  };

  const progressed = () => {
    lastProgress = performance.now();
    problem = undefined;
  };

  return {
    run,
    problem() {
      if (problem !== undefined || fruitless < timing.silentWatches) return problem;
      return `the last ${fruitless} watches brought no event and no bookmark; it is listed again and again instead`;
    },
    lastProgress: () => (isWaiting ? performance.now() : lastProgress),
  };
}

/** True if the API server answered, but the watch cannot be read or was refused; it may be the same the next time. */
function isOfWatch(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  if (error.status === 0) return error.reason === 'InvalidAnswer';
  return error.retryAfterSeconds === undefined && ![401, 403, 404, 410, 429].includes(error.status);
}
