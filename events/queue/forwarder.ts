import { hash } from 'node:crypto';
import { errorMessage } from '../../shared/errors.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { createBackoff } from '../backoff.ts';
import type { ChangeSender } from '../transport.ts';
import { isRetry, originOf } from './pending.ts';
import { type Schedule, type Start, startWorker, type WorkerOptions } from './schedule.ts';

/** The changes of a function that wait to be sent, and why the last attempt failed. */
export interface QueueStatus {
  function: string;
  waiting: number;
  problem?: string | undefined;
}

/** What is sent, and where. */
export interface ForwardOptions {
  /** The function's name. */
  name: string;
  schedule: Schedule;
  sender: ChangeSender;
  /** Keys of a cluster that is down wait for it, and not for the transport. */
  isUp(cluster: string): boolean;
  log: Log;
  metrics: Metrics;
}

/** Initial and final limit of the back-off. */
const BASE_MS = 500;
const CAP_MS = 30_000;
/** A transport limits its requests; an attempt that takes longer is stuck. */
export const SEND_SECONDS = 600;
/** What is due so soon waits already: most changes wait for others of their key for some milliseconds. */
const MOMENT_MS = 1000;

/**
 * Starts to send the changes of one function's schedule to where the function runs. A change that the transport refuses
 * backs off alone, so that it holds up no other; while the transport takes none, all wait for it.
 */
export function startForwarder({ name, schedule, sender, isUp, log, metrics }: ForwardOptions) {
  const pauses = createBackoff(BASE_MS, CAP_MS);
  let pausedUntil = 0;
  /** How often the transport has taken a key. */
  let taken = 0;
  /** The keys that it has refused, and not taken since. */
  const refused = new Map<string, { cluster: string; taken: number }>();
  let problem: string | undefined;

  const work: WorkerOptions['work'] = async (start) => {
    const text = keyText(start.key);
    try {
      await sender.send(changesOf(name, start));
    } catch (error) {
      const refusal = refused.get(text) ?? { cluster: start.key.cluster, taken };
      refused.set(text, refusal);
      problem = errorMessage(error);
      // Where it has taken others meanwhile, the reason is this key.
      return refuse(start, problem, refusal.taken === taken);
    }
    taken++;
    refused.delete(text);
    pauses.reset();
    pausedUntil = 0;
    return { result: 'done' };
  };

  const refuse = ({ attempt }: Start, error: string, isOfAll: boolean) => {
    const seconds = (Math.min(CAP_MS, BASE_MS * 2 ** Math.min(20, attempt - 1)) * (0.5 + Math.random() / 2)) / 1000;
    metrics.count('watcher_send_failures_total', { function: name });
    const isPaused = performance.now() < pausedUntil;
    if (isOfAll && !isPaused) pausedUntil = performance.now() + pauses.next();
    // The others under way fail for the same reason.
    if (!isPaused) log.warn('send failed', { function: name, error, retryInMs: Math.round(seconds * 1000) });
    return { result: 'retry', seconds, error } as const;
  };

  const currentProblem = () => ([...refused.values()].some(({ cluster }) => isUp(cluster)) ? problem : undefined);

  const isWaiting = () => {
    const { waiting, running } = schedule.depth();
    return waiting + running > 0 || (schedule.nextDue() ?? Infinity) < performance.now() + MOMENT_MS;
  };

  return {
    ...startWorker({ schedule, timeoutSeconds: SEND_SECONDS, work, pausedUntil: () => pausedUntil }),
    /** Returns true unless changes wait, or will in a moment, and none has been accepted yet. */
    accepts: () => taken > 0 || (!isWaiting() && currentProblem() === undefined),
    status(): QueueStatus {
      const { waiting, delayed, running } = schedule.depth();
      return { function: name, waiting: waiting + delayed + running, problem: currentProblem() };
    },
  };
}

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
