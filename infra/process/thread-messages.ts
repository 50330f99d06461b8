import type { MessagePort } from 'node:worker_threads';
import { RetryableError, retryWithin, retryWithinSeconds, ShootFluxError, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError, ConflictError, KubeError } from '../../shared/kube/errors.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { type Log, type LogFields, type LogLevel, logTo } from '../../shared/runtime/log.ts';
import type { Labels, Metrics } from '../../shared/runtime/metrics.ts';
import type { Outcome } from '../../shared/runtime/outcome.ts';
import type { HttpAnswer } from '../webhooks/answer.ts';

export interface ThreadData {
  /** Kubeconfig files, or `in-cluster`, by cluster name. */
  kubeconfigs: Record<string, string>;
  settings: Settings;
  /** Grows while the thread makes progress. */
  beats: Int32Array<SharedArrayBuffer>;
  /** The number of the job that executes, or executed last. */
  executing: Int32Array<SharedArrayBuffer>;
  /** When each cluster answered last, in epoch milliseconds: first the garden, then the seeds in their order. */
  answeredAt: Float64Array<SharedArrayBuffer>;
}

/** What the thread does for the process; the process numbers its jobs. */
export type Job =
  | { type: 'run'; id: number; function: string; key: ReconcileKey; causes: Cause[]; endedBefore?: string | undefined }
  | { type: 'review'; id: number; function: string; body: Uint8Array };

/** What the process tells the thread. */
export type ToThread =
  | Job
  | { type: 'abort'; id: number }
  /** The changes with this number were taken, or not. */
  | { type: 'sent'; id: number; error?: PlainError | undefined }
  /** Without a problem the cluster answers. */
  | { type: 'cluster'; cluster: string; problem?: string | undefined };

/** What the thread tells the process. */
export type FromThread =
  | { type: 'started' }
  | { type: 'ran'; id: number; outcome: Outcome }
  | { type: 'answered'; id: number; answer: HttpAnswer }
  | { type: 'failed'; id: number; error: PlainError }
  | { type: 'send'; id: number; changes: ChangeRequest[] }
  /** Calls to the cluster get no answer. */
  | { type: 'suspect'; cluster: string }
  | { type: 'up'; cluster: string }
  | { type: 'line'; level: LogLevel; message: string; fields: LogFields }
  | { type: 'number'; kind: keyof Metrics; name: string; value: number; labels: Labels };

/** An error as data: what the retry rules and the log need of it. */
export interface PlainError {
  kind: 'terminal' | 'retryable' | 'conflict' | 'down' | 'kube' | 'other';
  message: string;
  cluster?: string | undefined;
  retryAfterSeconds?: number | undefined;
  retryWithinSeconds?: number | undefined;
}

type Kind = [
  kind: PlainError['kind'],
  of: abstract new (...given: never[]) => Error,
  make: (plain: PlainError) => Error,
];

/** The kinds of errors, the more special ones first, and how one is made of its data. */
const kinds: Kind[] = [
  ['terminal', TerminalError, ({ message }) => new TerminalError(message)],
  ['retryable', RetryableError, ({ message }) => new RetryableError(message)],
  ['down', ClusterDownError, ({ message, cluster = '' }) => new ClusterDownError(cluster, message)],
  ['conflict', ConflictError, (plain) => new ConflictError(plain.message, 409, 'Conflict', waitOf(plain))],
  ['kube', KubeError, (plain) => new KubeError(plain.message, 0, '', waitOf(plain))],
];

function waitOf({ retryAfterSeconds }: PlainError) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}

export function plainError(error: unknown): PlainError {
  return {
    kind: kinds.find(([, type]) => error instanceof type)?.[0] ?? 'other',
    message: describeError(error),
    cluster: error instanceof ClusterDownError ? error.cluster : undefined,
    retryAfterSeconds: error instanceof KubeError ? error.retryAfterSeconds : undefined,
    retryWithinSeconds: retryWithinSeconds(error),
  };
}

/** Returns an error that is retried and logged like the one that `plainError` took. */
export function errorOf(plain: PlainError): unknown {
  const error = kinds.find(([kind]) => kind === plain.kind)?.[2](plain) ?? new ShootFluxError(plain.message);
  return plain.retryWithinSeconds === undefined ? error : retryWithin(error, plain.retryWithinSeconds);
}

type Post = (message: FromThread) => void;

/** Posts what one turn brings together, at its end, and lines of the log at once: it may be the thread's last turn. */
export function inOrder(port: Pick<MessagePort, 'postMessage'>): Post {
  let waiting: FromThread[] = [];
  const flush = () => {
    if (waiting.length > 0) port.postMessage(waiting);
    waiting = [];
  };
  return (message) => {
    if (waiting.push(message) === 1) setImmediate(flush);
    if (message.type === 'line') flush();
  };
}

/** A log whose lines the process writes, with the time at which they were logged. */
export function forwardedLog(post: Post): Log {
  return logTo((level, message, fields) =>
    post({ type: 'line', level, message, fields: { time: new Date().toISOString(), ...fields } }),
  );
}

/** Metrics that the process keeps. */
export function forwardedMetrics(post: Post): Metrics {
  return {
    count: (name, labels = {}, by = 1) => post({ type: 'number', kind: 'count', name, value: by, labels }),
    gauge: (name, value, labels = {}) => post({ type: 'number', kind: 'gauge', name, value, labels }),
    observe: (name, seconds, labels = {}) => post({ type: 'number', kind: 'observe', name, value: seconds, labels }),
  };
}
