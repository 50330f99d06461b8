import type { MessagePort } from 'node:worker_threads';
import { retryWithin, retryWithinSeconds, ShootFluxError, TerminalError } from '../../shared/errors.ts';
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
}

/** What the thread does for the process; the process numbers its jobs. */
export type Job =
  | { type: 'run'; id: number; function: string; key: ReconcileKey; causes: Cause[]; endedBefore?: string | undefined }
  | { type: 'review'; id: number; function: string; body: Uint8Array };

/** What the process tells the thread. */
export type ToThread =
  | Job
  | { type: 'abort'; id: number }
  /** Without a problem the cluster answers. */
  | { type: 'cluster'; cluster: string; problem?: string | undefined };

/** What the thread tells the process. */
export type FromThread =
  | { type: 'started' }
  | { type: 'ran'; id: number; outcome: Outcome }
  | { type: 'answered'; id: number; answer: HttpAnswer }
  | { type: 'failed'; id: number; error: PlainError }
  | { type: 'send'; changes: ChangeRequest[] }
  /** Calls to the cluster get no answer. */
  | { type: 'suspect'; cluster: string }
  /** The cluster has answered since it was suspected, or it was down. */
  | { type: 'up'; cluster: string }
  | { type: 'line'; level: LogLevel; message: string; fields: LogFields }
  | { type: 'number'; kind: keyof Metrics; name: string; value: number; labels: Labels };

/** An error as data: what the retry rules and the log need of it. */
export interface PlainError {
  message: string;
  isTerminal: boolean;
  isConflict: boolean;
  /** The cluster that is down. */
  cluster?: string | undefined;
  retryAfterSeconds?: number | undefined;
  retryWithinSeconds?: number | undefined;
}

export function plainError(error: unknown): PlainError {
  return {
    message: describeError(error),
    isTerminal: error instanceof TerminalError,
    isConflict: error instanceof ConflictError,
    cluster: error instanceof ClusterDownError ? error.cluster : undefined,
    retryAfterSeconds: error instanceof KubeError ? error.retryAfterSeconds : undefined,
    retryWithinSeconds: retryWithinSeconds(error),
  };
}

/** Returns an error that is retried and logged like the one that `plainError` took. */
export function errorOf(plain: PlainError): unknown {
  const error = sameKind(plain);
  return plain.retryWithinSeconds === undefined ? error : retryWithin(error, plain.retryWithinSeconds);
}

function sameKind({ message, isTerminal, isConflict, cluster, retryAfterSeconds }: PlainError): Error {
  if (isTerminal) return new TerminalError(message);
  if (cluster !== undefined) return new ClusterDownError(cluster, message);
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (isConflict) return new ConflictError(message, 409, 'Conflict', wait);
  return retryAfterSeconds === undefined ? new ShootFluxError(message) : new KubeError(message, 0, '', wait);
}

type Post = (message: FromThread) => void;

/** Posts what one turn brings together, at its end; changes and lines of the log at once: it may be the thread's last turn. */
export function inOrder(port: Pick<MessagePort, 'postMessage'>): Post {
  let waiting: FromThread[] = [];
  const flush = () => {
    if (waiting.length > 0) port.postMessage(waiting);
    waiting = [];
  };
  return (message) => {
    if (waiting.push(message) === 1) setImmediate(flush);
    if (message.type === 'line' || message.type === 'send') flush();
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
