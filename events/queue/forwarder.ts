import { hash } from 'node:crypto';
import { errorMessage } from '../../shared/errors.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { createBackoff } from '../backoff.ts';
import type { ChangeSender } from '../transport.ts';
import { isRetry, originOf } from './pending.ts';
import type { Schedule, Start } from './schedule.ts';
import type { Worker } from './worker.ts';

/** Sends the changes of one function's schedule to where the function runs. */
export interface Forwarder extends Worker {
  /** Returns true unless changes wait, or will in a moment, and none has been accepted yet. */
  accepts(): boolean;
  status(): QueueStatus;
}

/** The changes of a function that wait to be sent, and why the last attempt failed. */
export interface QueueStatus {
  function: string;
  waiting: number;
  problem?: string | undefined;
}

/** What is sent, where, and at what pace. */
export interface ForwardOptions {
  /** The function's name. */
  name: string;
  schedule: Schedule;
  sender: ChangeSender;
  /** Keys of a cluster that is down wait for it, and not for the transport. Default: all are up. */
  isUp?: ((cluster: string) => boolean) | undefined;
  /** How many background changes are sent per second, after a burst of as many. Default: all at once. */
  perSecond?: number | undefined;
  log: Log;
  metrics: Metrics;
  /** Initial and final limit of the back-off. */
  backoffMs?: [number, number] | undefined;
  /** An attempt that takes longer is stuck. */
  stuckMs?: number | undefined;
}

/** The most keys in one attempt; a transport splits them into its own batches. */
const MOST_AT_ONCE = 500;
/** So many background changes are sent together, where the pace allows it. */
const TOGETHER = 10;
/** What is due so soon waits already: most changes wait for others of their key for some milliseconds. */
const MOMENT_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A key that the transport has refused, and not accepted since. */
interface Refused {
  cluster: string;
  /** The transport has accepted others meanwhile: the reason is this key. */
  isSuspect: boolean;
}

/**
 * Starts to send keys, one attempt at a time. A change that the transport refuses backs off alone, so that it holds up
 * no other; while the transport takes none, new ones wait for it, too.
 */
export function startForwarder(options: ForwardOptions): Forwarder {
  const { name, schedule, sender, isUp = () => true, perSecond, log, metrics } = options;
  const { backoffMs: [base, cap] = [500, 30_000], stuckMs = 600_000 } = options;
  const pause = createBackoff(base, cap);
  const background = perSecond === undefined ? unlimited : createAllowance(perSecond, now());
  let timer: NodeJS.Timeout | undefined;
  let isWoken = false;
  let isStopped = false;
  let pausedUntil = 0;
  let hasSent = false;
  let problem: string | undefined;
  const refusals = new Map<string, Refused>();
  /** When the attempt under way began, and what resolves at its end. */
  let attempt: { begun: number; ended: Promise<void> } | undefined;

  const startAttempt = () => {
    isWoken = false;
    clearTimeout(timer);
    if (isStopped || attempt !== undefined) return;
    const starts = now() < pausedUntil ? [] : take();
    if (starts.length === 0) return sleep();
    const ended = send(starts).finally(() => {
      attempt = undefined;
      wake();
    });
    attempt = { begun: now(), ended };
  };

  const take = (): Start[] => {
    const starts: Start[] = [];
    while (starts.length < MOST_AT_ONCE) {
      const start = schedule.take(now(), !background.isOpen(now()));
      if (start === undefined) break;
      if (start.priority === 'background') background.use();
      starts.push(start);
    }
    return starts;
  };

  const sleep = () => {
    const { waiting } = schedule.depth();
    const due = Math.min(schedule.nextDue() ?? Infinity, waiting > 0 ? background.next() : Infinity);
    const at = Math.max(due, pausedUntil);
    if (at < Infinity) timer = setTimeout(startAttempt, Math.min(LONGEST_TIMER_MS, Math.max(1, at - now())));
  };

  const send = async (starts: Start[]): Promise<void> => {
    const refused = new Set<string>();
    try {
      await sender.send(starts.flatMap((start) => changesOf(name, start)));
      problem = undefined;
    } catch (error) {
      const { unsent = starts } = error as { unsent?: readonly Pick<ChangeRequest, 'key'>[] };
      for (const { key } of unsent) refused.add(keyText(key));
      problem = errorMessage(error);
    }
    for (const start of starts) {
      const { cluster } = start.key;
      const text = keyText(start.key);
      const isRefused = refused.has(text);
      if (!isRefused) refusals.delete(text);
      else if (!refusals.has(text)) refusals.set(text, { cluster, isSuspect: false });
      const seconds = backOff(start.attempt) / 1000;
      schedule.end(start.key, isRefused ? { result: 'retry', seconds, error: problem } : { result: 'done' }, now());
    }
    if (refused.size < starts.length) {
      hasSent = true;
      pause.reset();
      for (const refusal of refusals.values()) refusal.isSuspect = true;
    } else if (starts.some(isNew)) pausedUntil = now() + pause.next();
    if (problem === undefined) return;
    metrics.count('watcher_send_failures_total', { function: name });
    const retryInMs = Math.round(Math.max(0, pausedUntil - now()));
    log.warn('send failed', { function: name, error: problem, retryInMs });
  };

  const isNew = ({ key, attempt: count }: Start) => count === 1 && refusals.get(keyText(key))?.isSuspect === false;

  const currentProblem = () => ([...refusals.values()].some(({ cluster }) => isUp(cluster)) ? problem : undefined);

  const isWaiting = () => schedule.depth().waiting > 0 || (schedule.nextDue() ?? Infinity) < now() + MOMENT_MS;

  const backOff = (count: number) => Math.min(cap, base * 2 ** Math.min(20, count - 1)) * (0.5 + Math.random() / 2);

  // Not at once: what arrives in the same turn of the event loop is merged and sorted first.
  const wake = () => {
    if (isWoken || isStopped) return;
    isWoken = true;
    setImmediate(startAttempt);
  };

  wake();
  return {
    wake,
    accepts: () => hasSent || (attempt === undefined && !isWaiting() && currentProblem() === undefined),
    alive: () => attempt === undefined || now() - attempt.begun < stuckMs,
    status() {
      const { waiting, delayed, running } = schedule.depth();
      return { function: name, waiting: waiting + delayed + running, problem: currentProblem() };
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await attempt?.ended;
    },
  };
}

function now(): number {
  return performance.now();
}

/** Whether a background change may be sent: so many per second, and some together. */
type Allowance = ReturnType<typeof createAllowance>;

function createAllowance(perSecond: number, start: number) {
  const fewest = Math.min(TOGETHER, perSecond);
  let tokens = perSecond;
  let refilled = start;
  let isOpen = true;
  return {
    isOpen(at: number): boolean {
      tokens = Math.min(perSecond, tokens + ((at - refilled) / 1000) * perSecond);
      refilled = at;
      // A thousandth less, or a timer that is early by a fraction of a millisecond would wait twice.
      isOpen = tokens >= (isOpen ? 1 : fewest) - 0.001;
      return isOpen;
    },
    use: () => void tokens--,
    /** Returns when it is open again. */
    next: (): number => (isOpen ? refilled : refilled + ((fewest - tokens) / perSecond) * 1000),
  };
}

const unlimited: Allowance = { isOpen: () => true, use: () => {}, next: () => 0 };

/**
 * Returns what is sent for the causes of a key: one change for all objects, the retry that another process has sent,
 * because the run that failed may have had any cause, and the rest of each pass, because nothing else knows where it
 * stopped. A resync is no news beside any other cause.
 */
export function changesOf(name: string, { key, causes }: Pick<Start, 'key' | 'causes'>): ChangeRequest[] {
  const objects = causes.filter((cause) => cause.type === 'object');
  const others = causes.filter(({ type }) => type !== 'object' && type !== 'continue');
  const one =
    objects.length > 0 ? joined(objects) : (others.findLast(({ type }) => type !== 'resync') ?? others.at(-1));
  const retry = objects.length > 0 ? others.findLast(isRetry) : undefined;
  const rests = new Map(causes.flatMap((cause) => (cause.type === 'continue' ? [[cause.state, cause] as const] : [])));
  return [one, retry, ...rests.values()].flatMap((cause) =>
    cause === undefined ? [] : [{ function: name, key, cause }],
  );
}

type ObjectCause = Cause & { type: 'object' };

/**
 * Merges changes of objects into the one that is sent, with the latest version of each. It must differ from every change
 * sent before the last of them happened, or a queue that drops repetitions would drop it: so `also` is a digest of the
 * others.
 */
function joined(causes: readonly ObjectCause[]): ObjectCause {
  const latest = [...new Map(causes.map((cause) => [originOf(cause), cause])).values()];
  const sorted = latest.map((cause) => ({ cause, text: identity(cause) })).sort((a, b) => (a.text < b.text ? -1 : 1));
  const [{ cause: first } = { cause: causes[0] as ObjectCause }, ...others] = sorted;
  const { awaited: _, listed: __, ...cause } = first;
  const also = hash('sha256', others.map(({ text }) => text).join('\n'), 'base64url').slice(0, 12);
  return {
    ...cause,
    ...(others.length > 0 && { also }),
    ...(causes.some(({ awaited }) => awaited === true) && { awaited: true }),
    ...(causes.every(({ listed }) => listed === true) && { listed: true }),
  };
}

function identity(cause: ObjectCause): string {
  const { cluster, kind, namespace, name, uid, resourceVersion, deleted } = cause;
  return JSON.stringify([cluster, kind, namespace, name, uid, resourceVersion, deleted]);
}
