import { errorMessage } from '../../shared/errors.ts';
import { yieldToOthers } from '../../shared/event-loop.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { createAllowance } from './allowance.ts';
import { createBackoff } from './backoff.ts';
import { coalesced } from './coalesce.ts';
import { createLanes, type Waiting } from './lanes.ts';
import { type Pace, perSecondOf } from './pace.ts';
import type { Timing } from './timing.ts';

/** Holds the changes of one function until its queue has accepted them. */
export interface Outbox {
  /** @param mayWaitMs how long it may wait for other changes of its key; default: the debounce time */
  add(key: ReconcileKey, cause: Cause, mayWaitMs?: number): void;
  /**
   * Resolves when the queue has everything that was added so far, except what a pace holds back and what may still wait for
   * other changes of its key; never if the outbox is stopped first.
   */
  sent(): Promise<void>;
  /** Sends the changes of clusters that are up again. */
  resume(): void;
  /** Returns the number of keys that wait. */
  size(): number;
  /** Returns why the last attempt failed; undefined if it succeeded. */
  problem(): string | undefined;
  /** Returns when the last attempt ended, or an idle outbox got its first change; by `performance.now()`. */
  lastProgress(): number;
  /** Ends after the attempt under way. Drops waiting changes: after a restart the first list finds them. */
  stop(): Promise<void>;
}

/** The function whose changes an outbox sends, how, and at what pace. */
export interface OutboxOptions {
  function: string;
  /** Returns when the queue has accepted all of them; an error may list in `unsent` those that it has not. */
  send(changes: ChangeRequest[]): Promise<void>;
  /** Default: background changes are sent at once, after the others. */
  pace?: Pace | undefined;
  log: Log;
  metrics: Metrics;
  timing: Timing;
}

/** The most changes in one attempt; the sender splits them into the queue's batches. */
const mostAtOnce = 500;

type Batch = [string, Waiting][];

/**
 * Gathers the changes of one function by key, sends them, and retries until the queue has accepted them. What gardenlet
 * or a user waits for goes first, what a list or the resync has found last, and clusters take turns.
 */
export function createOutbox({ function: name, send, pace, log, metrics, timing }: OutboxOptions): Outbox {
  const lanes = createLanes();
  const allowance = createAllowance(perSecondOf(pace, name), performance.now());
  const isHeld = (cluster: string) => pace !== undefined && !pace.isUp(cluster);
  let isRunning = false;
  let isSending = false;
  let running = Promise.resolve();
  let added = 0;
  let batchSize = mostAtOnce;
  let refusals = 0;
  let problem: string | undefined;
  let lastProgress = performance.now();
  let sentListeners: { until: number; resolve: () => void }[] = [];
  const stopped = new AbortController();
  let sooner = new AbortController();
  let sleepsUntil = 0;
  const backoff = createBackoff(timing.backoffMs, timing.backoffCapMs);

  const start = () => {
    if (isRunning || stopped.signal.aborted) return;
    isRunning = true;
    lastProgress = performance.now();
    // Changes that are added together go together, however long adding them takes.
    running = Promise.resolve().then(run);
  };

  /** Makes one attempt at a time, so that changes of a key stay in order. */
  const run = async () => {
    for (let next = nextDue(); next < Number.POSITIVE_INFINITY && !stopped.signal.aborted; next = nextDue()) {
      if (next > performance.now()) await untilDue(next);
      else await attempt(take());
      lastProgress = performance.now();
      // A queue in this process accepts at once.
      await yieldToOthers();
    }
    isRunning = false;
  };

  const nextDue = () => {
    const background = lanes.nextDue(isHeld, 'background');
    return Math.min(lanes.nextDue(isHeld, 'urgent'), Math.max(background, allowance.next()));
  };

  /** Waits until a change is due, or a change is added that is due sooner. */
  const untilDue = async (next: number) => {
    sooner = new AbortController();
    sleepsUntil = next;
    await sleep(Math.max(0, Math.ceil(next - performance.now())), AbortSignal.any([stopped.signal, sooner.signal]));
    sleepsUntil = 0;
  };

  /** Takes the changes that are due, and with them those due within the debounce time. */
  const take = (): Batch => {
    const now = performance.now();
    const limits = { most: batchSize, mostBackground: allowance.left(now), isHeld };
    const batch = lanes.take(now + timing.debounceMs, limits);
    allowance.take(backgroundOf(batch));
    return batch;
  };

  /** A change that failed alone goes alone, so that it cannot fail others, and after what has arrived meanwhile. */
  const attempt = async (batch: Batch) => {
    isSending = true;
    const [suspect, ...later] = batch.filter(([, { failures }]) => failures > 0);
    const others = batch.filter(([, { failures }]) => failures === 0);
    const first = others.length > 0 ? await attemptPart(others) : undefined;
    if (first !== undefined) await sleep(first.delay, stopped.signal);
    const second = suspect === undefined ? undefined : await attemptPart([suspect]);
    keepForLater(later, second?.delay ?? 0);
    problem = (second ?? first)?.problem;
    isSending = false;
    resolveSent();
  };

  const keepForLater = (suspects: Batch, delay: number) => {
    const due = performance.now() + delay;
    for (const [, entry] of suspects) entry.due = Math.max(entry.due, due);
    lanes.putBack(suspects, 'first');
    allowance.take(-backgroundOf(suspects));
  };

  /** Returns what went wrong, and how long the queue should be left alone. */
  const attemptPart = async (part: Batch): Promise<{ problem: string; delay: number } | undefined> => {
    try {
      await send(part.flatMap(([, entry]) => changeOf(name, entry)));
      succeeded(part.length);
      return undefined;
    } catch (error) {
      return { problem: errorMessage(error), delay: failed(part, unsentOf(part, error), error) };
    }
  };

  const succeeded = (count: number) => {
    backoff.reset();
    refusals = 0;
    batchSize = Math.min(mostAtOnce, batchSize * 2);
    metrics.count('watcher_changes_total', { function: name }, count);
  };

  /**
   * When the queue accepted some, the others have a problem of their own. When it accepted none again and again, the
   * queue has one, or one of them fails all: smaller batches find it.
   */
  const failed = (part: Batch, unsent: Batch, error: unknown): number => {
    const isRefused = unsent.length === part.length;
    const isSuspect = part.some(([, { failures }]) => failures > 0);
    if (!isRefused) succeeded(part.length - unsent.length);
    else if (!isSuspect && ++refusals > 1) batchSize = Math.max(1, Math.floor(part.length / 2));
    const isTheirs = !isRefused || isSuspect || (part.length === 1 && refusals > 1);
    if (isTheirs) for (const [, entry] of unsent) putOff(entry);
    lanes.putBack(unsent, isTheirs ? 'last' : 'first');
    const delay = isRefused ? backoff.next() : 0;
    problem = errorMessage(error);
    lastProgress = performance.now();
    metrics.count('watcher_send_failures_total', { function: name });
    log.warn('send failed', { function: name, error: problem, retryInMs: Math.round(delay) });
    return delay;
  };

  const putOff = (entry: Waiting) => {
    entry.due = performance.now() + Math.min(timing.backoffCapMs, timing.backoffMs * 2 ** Math.min(entry.failures, 20));
    entry.failures++;
  };

  const resolveSent = () => {
    if (sentListeners.length === 0) return;
    const soon = performance.now() + timing.debounceMs;
    let oldest = Number.POSITIVE_INFINITY;
    for (const { priority, since, due, failures } of lanes.values()) {
      const waitsForOthers = failures === 0 && due > soon;
      if (!waitsForOthers && (pace === undefined || priority !== 'background')) oldest = Math.min(oldest, since);
    }
    sentListeners = sentListeners.filter(({ until, resolve }) => {
      if (oldest <= until) return true;
      resolve();
      return false;
    });
  };

  return {
    add(key, cause, mayWaitMs = timing.debounceMs) {
      if (stopped.signal.aborted) return;
      added++;
      const due = performance.now() + mayWaitMs;
      const { causes } = lanes.add(keyText(key), key, cause, added, due);
      if (causes.size > 1) metrics.count('watcher_coalesced_total', { function: name });
      if (due < sleepsUntil) sooner.abort();
      start();
    },
    sent() {
      return new Promise((resolve) => {
        sentListeners.push({ until: added, resolve });
        if (!isSending) resolveSent();
      });
    },
    resume() {
      sooner.abort();
      start();
    },
    size: () => lanes.size(),
    problem: () => problem,
    lastProgress: () => (isRunning ? lastProgress : performance.now()),
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

function backgroundOf(batch: Batch): number {
  return batch.filter(([, { priority }]) => priority === 'background').length;
}

/** Returns the changes that the error lists as unsent, or else all of them. */
function unsentOf(batch: Batch, error: unknown): Batch {
  const { unsent } = error as { unsent?: ChangeRequest[] };
  if (!Array.isArray(unsent)) return batch;
  const texts = new Set(unsent.map(({ key }) => keyText(key)));
  return batch.filter(([text]) => texts.has(text));
}

function changeOf(name: string, { key, causes }: Waiting): ChangeRequest[] {
  const cause = coalesced(causes);
  return cause === undefined ? [] : [{ function: name, key, cause }];
}
