import { setFlagsFromString } from 'node:v8';
import { errorMessage } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createReflector, type Reflector } from './reflector.ts';
import { createResync } from './resync.ts';
import { type Selection, selectionsOf, type WatchedClusters } from './selections.ts';
import { defaultTiming, type Timing } from './timing.ts';
import { createTracker, type Emit, type Tracker } from './tracker.ts';

export type { WatchedClusters } from './selections.ts';

/** What is watched for which functions, and how changes are sent. */
export interface WatcherOptions {
  definitions: FunctionDefinition[];
  clusters: WatchedClusters;
  kube(cluster: string): Promise<KubeClient>;
  /**
   * Sends changes of one function to its queue (`events/sqs/sender.ts`); returns when the queue has accepted all of
   * them. After an error the changes in the error's `unsent`, or else all of them, are sent again.
   */
  send(changes: ChangeRequest[]): Promise<void>;
  log: Log;
  metrics: Metrics;
  /** Period in which every key of functions with `resync` is sent once. Default one hour. */
  resyncSeconds?: number;
  /** For tests. */
  timing?: Partial<Timing>;
}

/** The status of one list and watch, for people and for `/readyz`. */
export interface SelectionStatus {
  cluster: string;
  resource: string;
  selector?: string | undefined;
  /** True when the first list is complete and its changes are in the queues. */
  synced: boolean;
  objects: number;
  /** Why it makes no progress. */
  problem?: string | undefined;
}

/** The progress of a watcher. */
export interface WatcherStatus {
  selections: SelectionStatus[];
  /** Number of keys that wait to be sent, by function. */
  outboxes: { function: string; waiting: number; problem?: string | undefined }[];
}

/** All lists and watches of one process. */
export interface Watcher {
  start(): void;
  /** Ends all loops, after the attempts to send that are under way. */
  stop(): Promise<void>;
  /** Returns true when the first sync of every selection is done. */
  ready(): boolean;
  /** Returns true unless a loop is stuck. An unreachable cluster or queue does not count: a restart would not help. */
  alive(): boolean;
  status(): WatcherStatus;
}

interface WatchedSelection {
  selection: Selection;
  tracker: Tracker;
  reflector: Reflector;
  synced: boolean;
}

/**
 * Turns events of the garden and of seeds into changes; decides nothing, and keeps no object. The path of a change: a
 * reflector lists and watches a selection of objects; its tracker compares fingerprints and emits a key with a cause;
 * the function's outbox gathers causes by key and sends them.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { definitions, clusters, log, metrics } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stopped = new AbortController();
  const outboxes = new Map<string, Outbox>(
    definitions.map(({ name }) => [name, createOutbox({ function: name, send: options.send, log, metrics, timing })]),
  );
  const emit: Emit = (name, key, cause, mayWaitMs) => outboxes.get(name)?.add(key, cause, mayWaitMs);
  const selections = selectionsOf(definitions, clusters).map((selection) =>
    watchedSelection(selection, emit, outboxes, options, timing),
  );
  let loops: Promise<void>[] = [];

  return {
    start() {
      if (loops.length > 0) return;
      keepHeapSmall();
      loops = selections.map(({ reflector }) => reflector.run(stopped.signal));
      loops.push(runResync(options, selections, emit, stopped.signal));
    },
    async stop() {
      stopped.abort();
      await Promise.all([...outboxes.values()].map((outbox) => outbox.stop()));
      await Promise.all(loops);
    },
    ready: () => selections.every(({ synced }) => synced),
    alive() {
      const oldest = Math.min(
        ...selections.map(({ reflector }) => reflector.lastProgress()),
        ...[...outboxes.values()].map((outbox) => outbox.lastProgress()),
      );
      return Date.now() - oldest < timing.stuckMs;
    },
    status: () => ({
      selections: selections.map(selectionStatus),
      outboxes: [...outboxes].map(([name, outbox]) => ({
        function: name,
        waiting: outbox.size(),
        problem: outbox.problem(),
      })),
    }),
  };
}

function watchedSelection(
  selection: Selection,
  emit: Emit,
  outboxes: Map<string, Outbox>,
  { kube, log, metrics }: WatcherOptions,
  timing: Timing,
): WatchedSelection {
  const { cluster, resource, subscribers } = selection;
  const tracker = createTracker(selection, emit, (name, { metadata }, error) => {
    const object = `${cluster}/${metadata.namespace ?? ''}/${metadata.name}`;
    log.error('object skipped', { function: name, kind: resource.kind, object, error: errorMessage(error) });
  });
  const onListed = () => {
    const labels = { cluster, resource: resource.plural };
    metrics.gauge('watcher_objects', tracker.size(), labels);
    if (result.synced) return;
    const names = new Set(subscribers.map((subscriber) => subscriber.function));
    void Promise.all([...names].map((name) => outboxes.get(name)?.sent())).then(() => {
      result.synced = true;
      log.info('first sync finished', { ...labels, objects: tracker.size() });
    });
  };
  const reflector = createReflector({ selection, tracker, kube, onListed, log, metrics, timing });
  const result: WatchedSelection = { selection, tracker, reflector, synced: false };
  return result;
}

/**
 * Keeps the young generation of this process at its initial size. A first sync creates hundreds of megabytes of short-
 * lived objects, for which V8 would grow it to 96 MB and never shrink it: 325 MB RSS instead of 165 MB with 50,000
 * objects, for a fifth more CPU. `--max-semi-space-size` would do the same, but only from the command line.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Emits each key of functions with `resync` once per period, evenly spread. */
async function runResync(
  { definitions, resyncSeconds = 3600 }: WatcherOptions,
  selections: WatchedSelection[],
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const resync = createResync(resyncSeconds, Date.now());
  const names = definitions.filter((definition) => definition.resync).map(({ name }) => name);
  while (!signal.aborted) {
    await sleep(resync.everyMs, signal);
    const slots = resync.advance(Date.now());
    for (const name of names) {
      for (const { key, cause } of resync.due(name, keysOf(name, selections), slots)) emit(name, key, cause);
    }
  }
}

function* keysOf(functionName: string, selections: WatchedSelection[]): Generator<ReconcileKey> {
  for (const { tracker } of selections) yield* tracker.keys(functionName);
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
