import { errorMessage } from '../../shared/errors.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createBackoff } from './backoff.ts';
import { addCause, type Causes, coalesced } from './coalesce.ts';
import type { Timing } from './timing.ts';

/** Holds the changes of one function until its queue has accepted them. */
export interface Outbox {
  /** @param mayWaitMs how long it may wait for other changes of its key; default: the debounce time */
  add(key: ReconcileKey, cause: Cause, mayWaitMs?: number): void;
  /** Resolves when the queue has everything that was added so far; never if the outbox is stopped first. */
  sent(): Promise<void>;
  /** Returns the number of keys that wait. */
  size(): number;
  /** Returns why the last attempt failed; undefined if it succeeded. */
  problem(): string | undefined;
  /** Returns when the last attempt ended, or an idle outbox got its first change; epoch ms. */
  lastProgress(): number;
  /** Ends after the attempt under way. Drops waiting changes: after a restart the first list finds them. */
  stop(): Promise<void>;
}

/** Whose changes an outbox sends, how, and at what pace. */
export interface OutboxOptions {
  function: string;
  /** Returns when the queue has accepted all of them; an error may list in `unsent` those that it has not. */
  send(changes: ChangeRequest[]): Promise<void>;
  log: Log;
  metrics: Metrics;
  timing: Timing;
}

interface Waiting {
  key: ReconcileKey;
  causes: Causes;
  /** Number of the first `add` of this key. */
  since: number;
  /** When it is due; epoch ms. */
  due: number;
}

/** The most changes in one attempt; the sender splits them into the queue's batches. */
const mostAtOnce = 500;

/** Gathers the changes of one function by key, sends them, and retries until the queue has accepted them. */
export function createOutbox({ function: name, send, log, metrics, timing }: OutboxOptions): Outbox {
  let waiting = new Map<string, Waiting>();
  let running: Promise<void> | undefined;
  let added = 0;
  let problem: string | undefined;
  let lastProgress = Date.now();
  let sentListeners: { until: number; resolve: () => void }[] = [];
  const stopped = new AbortController();
  let sooner = new AbortController();
  let sleepsUntil = 0;
  const backoff = createBackoff(timing.backoffMs, timing.backoffCapMs);

  const add: Outbox['add'] = (key, cause, mayWaitMs = timing.debounceMs) => {
    if (stopped.signal.aborted) return;
    added++;
    const text = keyText(key);
    const due = Date.now() + mayWaitMs;
    const entry = waiting.get(text) ?? { key, causes: new Map(), since: added, due };
    entry.due = Math.min(entry.due, due);
    if (due < sleepsUntil) sooner.abort();
    if (entry.causes.size > 0) metrics.count('watcher_coalesced_total', { function: name });
    waiting.set(text, entry);
    addCause(entry.causes, cause);
    if (running === undefined) {
      lastProgress = Date.now();
      running = run();
    }
  };

  /** Makes one attempt at a time, so that changes of a key stay in order. */
  const run = async () => {
    await untilDue();
    while (waiting.size > 0 && !stopped.signal.aborted) {
      const batch = dueIn(waiting, mostAtOnce, timing.debounceMs);
      if (batch.length === 0) {
        await untilDue();
        continue;
      }
      for (const [text] of batch) waiting.delete(text);
      try {
        await send(batch.flatMap(([, { key, causes }]) => changeOf(name, key, causes)));
        succeeded(batch.length);
      } catch (error) {
        const delay = backoff.next();
        failed(unsentOf(batch, error), error, delay);
        await sleep(delay, stopped.signal);
      }
      resolveSent();
    }
    running = undefined;
  };

  /** Waits until the first change is due, or a change is added that is due sooner. */
  const untilDue = async () => {
    sooner = new AbortController();
    sleepsUntil = firstDue(waiting);
    await sleep(Math.max(0, sleepsUntil - Date.now()), AbortSignal.any([stopped.signal, sooner.signal]));
    lastProgress = Date.now();
  };

  const succeeded = (count: number) => {
    backoff.reset();
    problem = undefined;
    lastProgress = Date.now();
    metrics.count('watcher_changes_total', { function: name }, count);
  };

  const resolveSent = () => {
    const first = waiting.values().next().value;
    sentListeners = sentListeners.filter(({ until, resolve }) => {
      if (first !== undefined && first.since <= until) return true;
      resolve();
      return false;
    });
  };

  const failed = (batch: [string, Waiting][], error: unknown, delay: number) => {
    const newer = waiting;
    waiting = new Map(batch);
    for (const [text, entry] of newer) {
      const older = waiting.get(text);
      if (older === undefined) waiting.set(text, entry);
      else for (const cause of entry.causes.values()) addCause(older.causes, cause);
    }
    problem = errorMessage(error);
    lastProgress = Date.now();
    metrics.count('watcher_send_failures_total', { function: name });
    log.warn('send failed', { function: name, error: problem, retryInMs: Math.round(delay) });
  };

  return {
    add,
    sent() {
      if (running === undefined) return Promise.resolve();
      return new Promise((resolve) => sentListeners.push({ until: added, resolve }));
    },
    size: () => waiting.size,
    problem: () => problem,
    lastProgress: () => (running === undefined ? Date.now() : lastProgress),
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

/** Returns the due changes, and with them those due within the given time; nothing before one is due. */
function dueIn(waiting: ReadonlyMap<string, Waiting>, most: number, withinMs: number): [string, Waiting][] {
  const now = Date.now();
  if (firstDue(waiting) > now) return [];
  const batch: [string, Waiting][] = [];
  for (const entry of waiting) {
    if (batch.length === most) break;
    if (entry[1].due <= now + withinMs) batch.push(entry);
  }
  return batch;
}

function firstDue(waiting: ReadonlyMap<string, Waiting>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { due } of waiting.values()) first = Math.min(first, due);
  return first;
}

/** Returns the changes that the error lists as unsent, or else all of them. */
function unsentOf(batch: [string, Waiting][], error: unknown): [string, Waiting][] {
  const { unsent } = error as { unsent?: ChangeRequest[] };
  if (!Array.isArray(unsent)) return batch;
  const texts = new Set(unsent.map(({ key }) => keyText(key)));
  return batch.filter(([text]) => texts.has(text));
}

function changeOf(name: string, key: ReconcileKey, causes: Causes): ChangeRequest[] {
  const cause = coalesced(causes);
  return cause === undefined ? [] : [{ function: name, key, cause }];
}
