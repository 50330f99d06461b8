import { errorMessage } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { KubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { StartOverError } from './lister.ts';
import { createReflector, type Reflector, type WatchedHealth } from './reflector.ts';
import { createResync } from './resync.ts';
import { type Selection, selectionsOf, type WatchedClusters } from './selections.ts';
import { keepHeapSmall, returnMemory } from './small-heap.ts';
import { defaultTiming, steadyTime, type Timing } from './timing.ts';
import { createKnownKeys, createTracker, type Emit, type KnownKeys, type Observer, type Tracker } from './tracker.ts';

/** What is watched for which functions, and what takes the changes. */
export interface WatcherOptions {
  definitions: FunctionDefinition[];
  clusters: WatchedClusters;
  kube(cluster: string): Promise<KubeClient>;
  /** Adds a change to the queue of its function. */
  emit: Emit;
  /** Returns what is shown each object of a selection, for numbers about them. */
  observerOf?: ((selection: Selection) => Observer | undefined) | undefined;
  /** Which clusters answer. Absent: each is asked again after a back-off. */
  health?: WatchedHealth | undefined;
  log: Log;
  metrics: Metrics;
  /** Period in which every key of functions with `resync` is emitted once. Default one hour. */
  resyncSeconds?: number | undefined;
  /** For tests. */
  timing?: Partial<Timing>;
}

/** The status of one list and watch, for people and for `/readyz`. */
export interface SelectionStatus {
  cluster: string;
  resource: string;
  selector?: string | undefined;
  /** True when the first list is complete and its changes are in the queue. */
  synced: boolean;
  objects: number;
  /** Why it makes no progress. */
  problem?: string | undefined;
}

/** All lists and watches of one process. */
export type Watcher = ReturnType<typeof createWatcher>;

interface WatchedSelection {
  selection: Selection;
  tracker: Tracker;
  reflector: Reflector;
  synced: boolean;
  /** How its last list or watch failed: without an answer that helps, or with a refusal. */
  failure?: 'unanswered' | 'refused';
}

/**
 * Turns events of the garden and of seeds into changes; decides nothing, and keeps no object. The path of a change: a
 * reflector lists and watches a selection of objects; its tracker compares fingerprints and emits a key with a cause;
 * the function's queue gathers the causes of the key.
 */
export function createWatcher(options: WatcherOptions) {
  const { definitions, clusters, metrics } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stopped = new AbortController();
  const emit: Emit = (name, key, cause, mayWaitMs = timing.debounceMs) => {
    metrics.count('watcher_changes_total', { function: name });
    options.emit(name, key, cause, mayWaitMs);
  };
  const known = createKnownKeys(definitions);
  const selections = selectionsOf(definitions, clusters).map((selection) =>
    watchedSelection(selection, emit, known, options, timing),
  );
  let loops: Promise<void>[] = [];
  let wasReady = false;
  let startedAt = performance.now();

  return {
    start(): void {
      if (loops.length > 0) return;
      startedAt = performance.now();
      keepHeapSmall();
      loops = selections.map(({ reflector }) => reflector.run(stopped.signal));
      loops.push(runResync(options, selections, emit, stopped.signal), returnMemory(stopped.signal));
    },
    /** Ends all loops. */
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(loops);
    },
    /**
     * Returns true when the first sync is done, except for seeds that cannot be listed: one of them must not take the
     * others' webhooks down. Stays true.
     */
    ready(): boolean {
      wasReady ||= isReady(selections, performance.now() - startedAt > timing.patienceMs);
      return wasReady;
    },
    /** Returns true unless a loop is stuck. An unreachable cluster does not count: a restart would not help. */
    alive(): boolean {
      const oldest = Math.min(...selections.map(({ reflector }) => reflector.lastProgress()));
      return performance.now() - oldest < timing.stuckMs;
    },
    status: () => selections.map(selectionStatus),
  };
}

/**
 * True when waiting longer does not help the clusters that answer: a seed that does not answer holds nothing up, nor
 * does one that refuses what another one allows, or answers slowly. A list that all of them refuse is a mistake of this
 * deployment.
 */
function isReady(selections: readonly WatchedSelection[], isPatienceOver: boolean): boolean {
  const synced = new Set(selections.filter((one) => one.synced).map(({ selection }) => what(selection)));
  const isSettled = (one: WatchedSelection) =>
    one.synced ||
    (one.selection.cluster !== GARDEN &&
      (one.failure === 'unanswered' ||
        (one.failure === undefined && isPatienceOver) ||
        (one.failure === 'refused' && synced.has(what(one.selection)))));
  return synced.size > 0 && selections.every(isSettled);
}

/** Returns the same text for the same objects of another cluster. */
function what({ resource, fieldSelector = '', labelSelector = '' }: Selection): string {
  return [resource.group, resource.plural, fieldSelector, labelSelector].join(' ');
}

function watchedSelection(
  selection: Selection,
  emit: Emit,
  known: KnownKeys,
  { kube, health, log, metrics, observerOf }: WatcherOptions,
  timing: Timing,
): WatchedSelection {
  const { cluster, resource } = selection;
  const labels = { cluster, resource: resource.plural };
  let skipped = 0;
  const onError = (name: string, object: unknown, error: unknown) => {
    if (skipped++ >= mostSkippedLines) return;
    const fields = { function: name, kind: resource.kind, object: `${cluster}/${nameOf(object)}` };
    log.error('object skipped', { ...fields, error: errorMessage(error) });
  };
  const tracker = createTracker(selection, emit, known, onError, observerOf?.(selection));
  const onUnreadable = (error: Error) => {
    if (skipped++ < mostSkippedLines) log.error('object skipped', { ...labels, error: errorMessage(error) });
  };
  const onListed = () => {
    if (result.synced) return;
    result.synced = true;
    log.info('first sync finished', { ...labels, objects: tracker.size() });
  };
  const onFailed = (error: unknown) => {
    result.failure = isRefusal(error) ? 'refused' : 'unanswered';
  };
  const listeners = { onListed, onUnreadable, onFailed };
  const reflector = createReflector({ selection, tracker, kube, health, ...listeners, log, metrics, timing });
  const result: WatchedSelection = { selection, tracker, reflector, synced: false };
  return result;
}

/** True when the next attempt fails, too, until rights, configuration or this deployment change. */
function isRefusal(error: unknown): boolean {
  if (error instanceof StartOverError) return false;
  if (!(error instanceof KubeError)) return true;
  return error.status >= 400 && error.status < 500 && ![410, 429].includes(error.status);
}

/** How many lines are logged about skipped objects of a selection: a cluster may hold thousands of them. */
const mostSkippedLines = 100;

function nameOf(object: unknown): string {
  const { namespace = '', name } = (object as Partial<KubeObject> | null)?.metadata ?? {};
  return safeText(`${namespace}/${name}`).slice(0, 300);
}

/** Emits each key of functions with `resync` once per period, evenly spread. */
async function runResync(
  { definitions, resyncSeconds = 3600 }: WatcherOptions,
  selections: WatchedSelection[],
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const names = definitions.filter((definition) => definition.resync).map(({ name }) => name);
  const resync = createResync(resyncSeconds, steadyTime(), () =>
    names.flatMap((name) => selections.map(({ tracker }) => [name, tracker.keys(name)] as const)),
  );
  while (!signal.aborted) {
    await sleep(resync.everyMs, signal);
    for (const { function: name, key, cause } of await resync.due(steadyTime())) emit(name, key, cause);
  }
}

function selectionStatus({ selection, tracker, reflector, synced }: WatchedSelection): SelectionStatus {
  return {
    cluster: selection.cluster,
    resource: selection.resource.plural,
    selector: selection.fieldSelector ?? selection.labelSelector,
    synced,
    objects: tracker.size(),
    problem: reflector.problem(),
  };
}
