import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { VISIBILITY_SECONDS } from '../../../events/sqs/limits.ts';
import { requeueTime } from '../../../events/sqs/requeue.ts';
import { decideRetry } from '../../../events/sqs/retry.ts';
import type { QueueFunction } from '../../../events/sqs/runner.ts';
import { type Selection, selectionsOf } from '../../../events/watcher/selections.ts';
import { createTracker } from '../../../events/watcher/tracker.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { apiVersionOf, type KubeObject } from '../../../shared/kube/resource.ts';
import type { Cause, ChangeRequest } from '../../../shared/runtime/change-request.ts';
import type { Handler, Settings } from '../../../shared/runtime/context.ts';
import { keyText, type ReconcileKey } from '../../../shared/runtime/key.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { noMetrics } from '../../../shared/runtime/metrics.ts';

/** What a life of the product lives in. */
export interface Surroundings {
  functions: QueueFunction[];
  settings: Settings;
  /** The API server of `garden` or a seed. */
  api(cluster: string): KubeApi;
  client(cluster: string): KubeClient;
  now(): Date;
  logLines: string[];
  /** Hears of every run. */
  onRun(): void;
}

/**
 * One life of the product: the watcher's memory and the queue, on a clock that is set by hand, and one run at a time.
 * Functions, definitions, trackers, retries and requeues are the real ones; watches and SQS, which make every run take
 * seconds, are not.
 */
export interface ProductLife {
  /** Runs what is due now; false when nothing was. */
  step(): Promise<boolean>;
  /** When something is due next, in epoch ms. */
  nextDue(): number | undefined;
  /** Nothing that is under way gets an answer any more, and nothing starts. */
  die(): void;
  /**
   * The queue takes the run that is under way for lost: its message comes again when its visibility ends. Everything
   * else goes on, and when the run `isDead`, it gets no answer any more; else it goes on too, beside the next one.
   */
  loseRun(run: { isDead: boolean }): void;
  /** Resolves when runs that were taken for lost have ended. */
  lateRuns(): Promise<void>;
  /** What went to the dead-letter queue. */
  deadLetters(): string[];
}

/** A key of a function: SQS's message group. */
interface Group {
  function: string;
  key: ReconcileKey;
  causes: Cause[];
  /** When there is something to do, in epoch ms. */
  due: Set<number>;
  /** A failed message hides, and its group waits with it. */
  hiddenUntil: number;
  attempt: number;
}

interface Running {
  isDead: boolean;
  lose(): void;
}

/** A message whose run is lost comes again only then, as with SQS. */
export const VISIBILITY_MS = VISIBILITY_SECONDS * 1000;

export function startLife(surroundings: Surroundings): ProductLife {
  const { functions, now } = surroundings;
  const groups = new Map<string, Group>();
  const deadLetters: string[] = [];
  const late: Promise<unknown>[] = [];
  let running: Running | undefined;
  let isDead = false;

  const send = ({ function: name, key, cause }: ChangeRequest) => {
    const text = `${name} ${keyText(key)}`;
    const group = groups.get(text) ?? { function: name, key, causes: [], due: new Set(), hiddenUntil: 0, attempt: 1 };
    groups.set(text, group);
    group.causes.push(cause);
    group.due.add(now().getTime());
  };
  const stopWatching = watchAll(surroundings, (name, key, cause) => send({ function: name, key, cause }));

  const dueOf = (group: Group) =>
    group.due.size === 0 ? Infinity : Math.max(Math.min(...group.due), group.hiddenUntil);

  const run = async (group: Group): Promise<void> => {
    const { handler } = handlerOf(functions, group.function);
    const causes = group.causes.splice(0);
    for (const time of group.due) if (time <= now().getTime()) group.due.delete(time);
    const lost = Promise.withResolvers<'lost'>();
    const mine: Running = { isDead: false, lose: () => lost.resolve('lost') };
    running = mine;
    surroundings.onRun();
    const alive = () => !mine.isDead;
    const context = {
      kube: async (cluster: string) => mortal(surroundings.client(cluster), alive),
      settings: surroundings.settings,
      send: async (changes: ChangeRequest[]) => {
        await unlessDead(alive);
        for (const change of changes) send(change);
      },
      causes,
      now,
      log: createLog('debug', (line) => alive() && surroundings.logLines.push(line), {
        function: group.function,
        key: keyText(group.key),
      }),
      metrics: noMetrics,
      signal: new AbortController().signal,
    };
    const ending = handler(group.key, context).catch((error: unknown) => ({ type: 'failed' as const, error }));
    const outcome = await Promise.race([ending, lost.promise]);
    if (running === mine) running = undefined;
    const again = (time: number) => void group.due.add(time);
    const requeue = (seconds: number) => again(requeueTime(now(), seconds).getTime());
    if (outcome === 'lost') {
      // The message is not its own any more, but what it asks for is sent as a message of its own.
      if (!mine.isDead) late.push(ending.then((own) => own.type === 'requeue' && requeue(own.afterSeconds)));
      group.hiddenUntil = now().getTime() + VISIBILITY_MS;
      again(group.hiddenUntil);
      group.attempt++;
    } else if (outcome.type === 'failed') {
      surroundings.logLines.push(`${group.function} ${keyText(group.key)} failed: ${outcome.error}`);
      const retry = decideRetry(outcome.error, group.attempt++, 0.5);
      if (retry.type === 'deadLetter') deadLetters.push(`${group.function} ${keyText(group.key)}: ${outcome.error}`);
      else if (retry.type === 'delay') again(requeueTime(now(), retry.seconds).getTime());
      else {
        group.hiddenUntil = now().getTime() + retry.seconds * 1000;
        again(group.hiddenUntil);
      }
    } else {
      group.attempt = 1;
      if (outcome.type === 'requeue') requeue(outcome.afterSeconds);
    }
  };

  return {
    deadLetters: () => deadLetters,
    async step() {
      if (isDead) return false;
      const group = [...groups.values()].find((candidate) => dueOf(candidate) <= now().getTime());
      if (group === undefined) return false;
      await run(group);
      return true;
    },
    nextDue() {
      const next = Math.min(...[...groups.values()].map(dueOf));
      return isDead || next === Infinity ? undefined : next;
    },
    die() {
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
  };
}

/** Two lives beside each other that know nothing of one another, each with its own queue. */
export function startTwins(surroundings: Surroundings): ProductLife {
  const twins = [startLife(surroundings), startLife(surroundings)];
  const each = (act: (life: ProductLife) => unknown) => Promise.all(twins.map(act));
  return {
    step: async () => (await each((life) => life.step())).includes(true),
    nextDue() {
      const next = Math.min(...twins.map((life) => life.nextDue() ?? Infinity));
      return next === Infinity ? undefined : next;
    },
    die: () => void each((life) => life.die()),
    loseRun: (run) => void each((life) => life.loseRun(run)),
    lateRuns: async () => void (await each((life) => life.lateRuns())),
    deadLetters: () => twins.flatMap((life) => life.deadLetters()),
  };
}

function handlerOf(functions: QueueFunction[], name: string): { handler: Handler } {
  const found = functions.find(({ definition }) => definition.name === name);
  if (found === undefined || found.definition.queue === 'standard') throw new Error(`there is no function ${name}`);
  return found as { handler: Handler };
}

/** Every selection of the watcher, fed with what happens in the stores of the API servers. */
function watchAll(
  { functions, settings, api }: Surroundings,
  emit: (name: string, key: ReconcileKey, cause: Cause) => void,
): () => void {
  const definitions = functions.map(({ definition }) => definition);
  const stops = selectionsOf(definitions, { garden: true, seeds: settings.seeds }).map((selection) => {
    const tracker = createTracker(selection, emit, (_name, _object, error) => {
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

/** The two forms of selectors that definitions use: `metadata.name=…` and `label=value`. */
function selects({ fieldSelector, labelSelector }: Selection, object: unknown): boolean {
  const { metadata } = object as KubeObject;
  const [label = '', value] = labelSelector?.split('=') ?? [];
  return (
    (fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`) &&
    (labelSelector === undefined || metadata.labels?.[label] === value)
  );
}

/** A client that falls silent when its run is over. */
function mortal(client: KubeClient, alive: () => boolean): KubeClient {
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
