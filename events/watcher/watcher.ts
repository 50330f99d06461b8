import { errorMessage } from '../../shared/errors.ts';
import { yieldToOthers } from '../../shared/event-loop.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { KubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createKnownKeys, type KnownKeys } from './known-keys.ts';
import { StartOverError } from './lister.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import type { Pace } from './pace.ts';
import { createReflector, type Reflector, type WatchedHealth } from './reflector.ts';
import { createResync, type Steps } from './resync.ts';
import { createResyncPlan } from './resync-plan.ts';
import { type Selection, selectionsOf, type WatchedClusters } from './selections.ts';
import { keepHeapSmall, returnMemory } from './small-heap.ts';
import { defaultTiming, steadyTime, type Timing } from './timing.ts';
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
  /** Which clusters answer. Absent: each is asked again after a back-off. */
  health?: WatchedHealth | undefined;
  /** For queues without priorities: how fast background changes are sent. Default: at once. */
  pace?: Pace | undefined;
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
  /**
   * Returns true when the first sync is done, except for seeds that cannot be listed: one of them must not take the
   * others' webhooks down. Stays true.
   */
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
  /** How its last list or watch failed: without an answer that helps, or with a refusal. */
  failure?: 'unanswered' | 'refused';
}

/**
 * Turns events of the garden and of seeds into changes; decides nothing, and keeps no object. The path of a change: a
 * reflector lists and watches a selection of objects; its tracker compares fingerprints and emits a key with a cause;
 * the function's outbox gathers causes by key and sends them.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { definitions, clusters, health, pace, log, metrics } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const stopped = new AbortController();
  const outboxes = new Map<string, Outbox>(
    definitions.map(({ name }) => [
      name,
      createOutbox({ function: name, send: options.send, pace, log, metrics, timing }),
    ]),
  );
  const emit: Emit = (name, key, cause, mayWaitMs) => outboxes.get(name)?.add(key, cause, mayWaitMs);
  const known = createKnownKeys(definitions);
  const selections = selectionsOf(definitions, clusters).map((selection) =>
    watchedSelection(selection, emit, known, outboxes, options, timing),
  );
  let loops: Promise<void>[] = [];
  let ignoreHealth: (() => void) | undefined;
  let wasReady = false;
  let startedAt = performance.now();

  return {
    start() {
      if (loops.length > 0) return;
      startedAt = performance.now();
      keepHeapSmall();
      ignoreHealth = health?.onChange(() => {
        for (const outbox of outboxes.values()) outbox.resume();
      });
      loops = selections.map(({ reflector }) => reflector.run(stopped.signal));
      loops.push(runResync(options, selections, emit, stopped.signal), returnMemory(stopped.signal));
    },
    async stop() {
      stopped.abort();
      ignoreHealth?.();
      await Promise.all([...outboxes.values()].map((outbox) => outbox.stop()));
      await Promise.all(loops);
    },
    ready() {
      wasReady ||= isReady(selections, performance.now() - startedAt > timing.patienceMs);
      return wasReady;
    },
    alive() {
      const oldest = Math.min(
        ...selections.map(({ reflector }) => reflector.lastProgress()),
        ...[...outboxes.values()].map((outbox) => outbox.lastProgress()),
      );
      return performance.now() - oldest < timing.stuckMs;
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
  outboxes: Map<string, Outbox>,
  { kube, health, log, metrics }: WatcherOptions,
  timing: Timing,
): WatchedSelection {
  const { cluster, resource, subscribers } = selection;
  const labels = { cluster, resource: resource.plural };
  let skipped = 0;
  const tracker = createTracker(selection, emit, known, (name, object, error) => {
    if (skipped++ >= mostSkippedLines) return;
    const fields = { function: name, kind: resource.kind, object: `${cluster}/${nameOf(object)}` };
    log.error('object skipped', { ...fields, error: errorMessage(error) });
  });
  const onUnreadable = (error: Error) => {
    if (skipped++ < mostSkippedLines) log.error('object skipped', { ...labels, error: errorMessage(error) });
  };
  const onListed = () => {
    if (result.synced) return;
    const names = new Set(subscribers.map((subscriber) => subscriber.function));
    void Promise.all([...names].map((name) => outboxes.get(name)?.sent())).then(() => {
      result.synced = true;
      log.info('first sync finished', { ...labels, objects: tracker.size() });
    });
  };
  const onFailed = (error: unknown) => {
    result.failure = isRefusal(error) ? 'refused' : 'unanswered';
  };
  const reflector = createReflector({
    selection,
    tracker,
    kube,
    health,
    onListed,
    onUnreadable,
    onFailed,
    log,
    metrics,
    timing,
  });
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
  const resync = createResync(resyncSeconds, steadyTime());
  const names = definitions.filter((definition) => definition.resync).map(({ name }) => name);
  const plan = createResyncPlan();
  const planSteps = async (name: string, steps: Steps) => {
    const seen = new Set<string>();
    for (const { tracker } of selections) {
      for (const due of resync.due(name, tracker.keys(name), steps, seen)) plan.add(due);
      // With 40,000 objects, one of them alone takes ten milliseconds.
      await yieldToOthers();
    }
  };
  while (!signal.aborted) {
    await sleep(resync.everyMs, signal);
    const steps = resync.advance(steadyTime());
    const missing = plan.missing(steps);
    if (missing !== undefined) {
      for (const name of names) await planSteps(name, missing);
    }
    for (const { functionName, key, cause } of plan.take(steps)) emit(functionName, key, cause);
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
