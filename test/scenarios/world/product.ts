import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import type { QueueFunction } from '../../../events/run.ts';
import { type Selection, selectionsOf } from '../../../events/watcher/selections.ts';
import { createKnownKeys, createTracker } from '../../../events/watcher/tracker.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { apiVersionOf, type KubeObject } from '../../../shared/kube/resource.ts';
import type { Cause, ChangeRequest } from '../../../shared/runtime/change-request.ts';
import type { Handler, Settings } from '../../../shared/runtime/context.ts';
import { keyText, type ReconcileKey } from '../../../shared/runtime/key.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { noMetrics } from '../../../shared/runtime/metrics.ts';
import { processQueue, sqsQueue, type Taken, type WorldQueue } from './queues.ts';

/** Everything that an instance of the product needs from outside. */
export interface ProductDependencies {
  functions: QueueFunction[];
  settings: Settings;
  queue: 'process' | 'sqs';
  /** The API server of `garden` or a seed. */
  api(cluster: string): KubeApi;
  client(cluster: string): KubeClient;
  now(): Date;
  logLines: string[];
  /** Called at the start of every run. */
  onRun(): void;
}

/**
 * One instance of the product from start to death: the watcher's memory and the queue, on a simulated clock, with one
 * run at a time. Functions, definitions, trackers, the queue of one process, retries and requeues are the real ones;
 * watches and SQS are replaced, because with them every run takes seconds.
 */
export interface ProductInstance {
  /** Runs one key that is due now; false when none is. */
  step(): Promise<boolean>;
  /** When something is due next, in epoch ms. */
  nextDue(): number | undefined;
  /** The current run receives no more answers, and no run starts. */
  kill(): void;
  /**
   * The queue takes the current run for lost: its message is redelivered when its visibility ends. The product
   * continues. If the run `isDead`, it receives no more answers; otherwise it continues beside the next one.
   */
  loseRun(run: { isDead: boolean }): void;
  /** Resolves when all runs that were taken for lost have ended. */
  lateRuns(): Promise<void>;
  /** Changes that were given up. */
  deadLetters(): string[];
  /**
   * Copies what outlives a run.
   * @returns a function that starts an instance with it, whose run is lost or `begins` again; undefined where nothing does
   */
  remember(): ((begins: boolean) => ProductInstance) | undefined;
}

/** What outlives the run of an instance: the queue. The watcher knows what the API servers have. */
interface Memory {
  queue: WorldQueue;
  /** What the run has taken. */
  taken: Taken;
  /** True: the run begins with the next step. False: it is under way, and only waits to be lost. */
  begins: boolean;
}

interface Running {
  taken: Taken;
  isDead: boolean;
  lose(): void;
}

export function startInstance(dependencies: ProductDependencies, memory?: Memory): ProductInstance {
  const { functions, now } = dependencies;
  const queue = memory?.queue ?? (dependencies.queue === 'sqs' ? sqsQueue(now) : processQueue(now));
  const deadLetters: string[] = [];
  const late: Promise<unknown>[] = [];
  let running: Running | undefined;
  let isDead = false;

  let isNews = memory === undefined;
  const stopWatching = watchAll(
    dependencies,
    (name, key, cause) => isNews && queue.send({ function: name, key, cause }),
  );
  isNews = true;
  let begun = memory?.begins === true ? memory.taken : undefined;
  if (memory?.begins === false) {
    const { taken } = memory;
    running = { taken, isDead: false, lose: () => queue.lose(taken) };
  }

  const run = async (taken: Taken): Promise<void> => {
    const { function: name, key, causes } = taken;
    const { handler } = handlerOf(functions, name);
    const lost = Promise.withResolvers<'lost'>();
    const mine: Running = { taken, isDead: false, lose: () => lost.resolve('lost') };
    running = mine;
    dependencies.onRun();
    const alive = () => !mine.isDead;
    const context = {
      kube: async (cluster: string) => silencedWhenDead(dependencies.client(cluster), alive),
      settings: dependencies.settings,
      send: async (changes: ChangeRequest[]) => {
        await unlessDead(alive);
        for (const change of changes) queue.send(change);
      },
      causes,
      now,
      log: createLog('debug', (line) => alive() && dependencies.logLines.push(line)).with({
        function: name,
        key: keyText(key),
      }),
      metrics: noMetrics,
      signal: new AbortController().signal,
    };
    const ending = handler(key, context).catch((error: unknown) => ({ type: 'failed' as const, error }));
    const result = await Promise.race([ending, lost.promise]);
    if (running === mine) running = undefined;
    if (result === 'lost') {
      // The process has died, and its queue with it.
      if (isDead) return;
      if (!mine.isDead)
        late.push(ending.then((own) => own.type === 'requeue' && queue.requeue(taken, own.afterSeconds)));
      queue.lose(taken);
      return;
    }
    const isGivenUp = queue.end(taken, result);
    if (result.type !== 'failed') return;
    dependencies.logLines.push(`${name} ${keyText(key)} failed: ${result.error}`);
    if (isGivenUp) deadLetters.push(`${name} ${keyText(key)}: ${result.error}`);
  };

  return {
    deadLetters: () => deadLetters,
    async step() {
      if (isDead) return false;
      const taken = begun ?? queue.take();
      begun = undefined;
      if (taken === undefined) return false;
      await run(taken);
      return true;
    },
    nextDue() {
      const next = queue.nextDue();
      return isDead || next === Infinity ? undefined : next;
    },
    kill() {
      isDead = true;
      stopWatching();
      this.loseRun({ isDead: true });
    },
    loseRun(run) {
      if (running === undefined) return;
      Object.assign(running, run);
      running.lose();
      running = undefined;
    },
    async lateRuns() {
      await Promise.all(late.splice(0));
    },
    remember() {
      const copy = queue.copy();
      if (copy === undefined || running === undefined) return undefined;
      const { taken } = running;
      return (begins) => startInstance(dependencies, { queue: copy.copy() ?? copy, taken, begins });
    },
  };
}

/** Starts two instances side by side that know nothing of each other, each with its own queue. */
export function startTwoInstances(dependencies: ProductDependencies): ProductInstance {
  const both = [startInstance(dependencies), startInstance(dependencies)];
  const each = (act: (instance: ProductInstance) => unknown) => Promise.all(both.map(act));
  return {
    step: async () => (await each((instance) => instance.step())).includes(true),
    nextDue() {
      const next = Math.min(...both.map((instance) => instance.nextDue() ?? Infinity));
      return next === Infinity ? undefined : next;
    },
    kill: () => void each((instance) => instance.kill()),
    loseRun: (run) => void each((instance) => instance.loseRun(run)),
    lateRuns: async () => void (await each((instance) => instance.lateRuns())),
    deadLetters: () => both.flatMap((instance) => instance.deadLetters()),
    remember: () => undefined,
  };
}

function handlerOf(functions: QueueFunction[], name: string): { handler: Handler } {
  const found = functions.find(({ definition }) => definition.name === name);
  if (found === undefined) throw new Error(`there is no function ${name}`);
  return found;
}

/** Feeds every selection of the watcher with the changes in the stores of the API servers. */
function watchAll(
  { functions, settings, api }: ProductDependencies,
  emit: (name: string, key: ReconcileKey, cause: Cause) => void,
): () => void {
  const definitions = functions.map(({ definition }) => definition);
  const knownKeys = createKnownKeys(definitions);
  const stops = selectionsOf(definitions, { garden: true, seeds: settings.seeds }).map((selection) => {
    const tracker = createTracker(selection, emit, knownKeys, (_name, _object, error) => {
      throw error;
    });
    const { objects } = api(selection.cluster);
    const { kind } = selection.resource;
    const apiVersion = apiVersionOf(selection.resource);
    const view = (object: unknown) => viewOf(selection, { ...(object as KubeObject), apiVersion, kind });
    for (const object of objects.list(apiVersion, kind)) {
      if (selects(selection, object)) tracker.observe(view(object));
    }
    return objects.onChange(apiVersion, kind, ({ type, object, previous }) => {
      const isSelected = type !== 'DELETED' && selects(selection, object);
      if (isSelected) tracker.observe(view(object));
      else if (selects(selection, previous ?? object)) tracker.remove(view(object));
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function viewOf({ metadataOnly }: Selection, object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return metadataOnly ? { apiVersion, kind, metadata } : object;
}

/** Evaluates the two forms of selectors that definitions use: `metadata.name=…` and `label=value`. */
function selects({ fieldSelector, labelSelector }: Selection, object: unknown): boolean {
  const { metadata } = object as KubeObject;
  const [label = '', value] = labelSelector?.split('=') ?? [];
  return (
    (fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`) &&
    (labelSelector === undefined || metadata.labels?.[label] === value)
  );
}

/** Returns a client whose calls never resolve once its run is dead. */
function silencedWhenDead(client: KubeClient, alive: () => boolean): KubeClient {
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await unlessDead(alive);
      try {
        return await call(...args);
      } finally {
        await unlessDead(alive);
      }
    };
  return {
    ...client,
    find: guarded(client.find),
    list: guarded(client.list),
    create: guarded(client.create),
    replace: guarded(client.replace),
    apply: guarded(client.apply),
    mergePatch: guarded(client.mergePatch),
    delete: guarded(client.delete),
  } as KubeClient;
}

async function unlessDead(alive: () => boolean): Promise<void> {
  if (!alive()) await new Promise(() => {});
}
