import type { Log, LogFields, LogLevel } from '../../shared/runtime/log.ts';
import type { Labels, Metrics } from '../../shared/runtime/metrics.ts';
import type { WebhooksStatus } from '../webhooks/webhooks.ts';
import type { WebhookOptions, WebhookSettings } from './webhooks.ts';

/** The options of the webhooks, and how their thread reaches the clusters. */
export interface ThreadedOptions extends WebhookOptions {
  /** Kubeconfig files, or `in-cluster`, by cluster name. */
  kubeconfigs: Record<string, string>;
}

/** The data that the thread starts with. */
export interface ThreadData {
  options: ThreadedOptions;
  settings: WebhookSettings;
  /** How many lines and numbers the process has not handled yet; both threads count. */
  waiting: Int32Array<SharedArrayBuffer>;
}

/** What the thread reports to its process. */
export type ThreadMessage =
  | { type: 'listening'; port: number }
  /** The webhooks cannot be served, for example because the port is taken. */
  | { type: 'refused'; sentence: string }
  /** Sent when it changes and every second, so its absence means that the thread is stuck. */
  | { type: 'status'; status: WebhooksStatus }
  | LineOrNumber;

type LineOrNumber =
  | { type: 'line'; level: LogLevel; message: string; fields: LogFields }
  | { type: 'number'; kind: keyof Metrics; name: string; value: number; labels: Labels };

/** A process that does not handle them for long loses the rest instead of memory. */
const MOST_WAITING = 10_000;

/** In the thread: returns the function that sends a line or a number, unless too many wait. */
export function boundedPost(
  post: (message: LineOrNumber) => void,
  waiting: Int32Array<SharedArrayBuffer>,
): (message: LineOrNumber) => void {
  return (message) => {
    if (Atomics.load(waiting, 0) >= MOST_WAITING) return;
    Atomics.add(waiting, 0, 1);
    post(message);
  };
}

/** In the process: writes a line to the log, or a number to the metrics. */
export function receive(
  message: LineOrNumber,
  { log, metrics }: { log: Log; metrics: Metrics },
  waiting: Int32Array<SharedArrayBuffer>,
): void {
  Atomics.sub(waiting, 0, 1);
  if (message.type === 'line') log[message.level](message.message, message.fields);
  else if (message.kind === 'count') metrics.count(message.name, message.labels, message.value);
  else metrics[message.kind](message.name, message.value, message.labels);
}

/** A log whose lines the process writes, with the time at which they were logged. */
export function forwardedLog(post: (message: LineOrNumber) => void, base: LogFields = {}): Log {
  const line = (level: LogLevel) => (message: string, fields?: LogFields) =>
    post({ type: 'line', level, message, fields: { time: new Date().toISOString(), ...base, ...fields } });
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => forwardedLog(post, { ...base, ...fields }),
  };
}

/** Metrics that the process keeps. */
export function forwardedMetrics(post: (message: LineOrNumber) => void): Metrics {
  return {
    count: (name, labels = {}, by = 1) => post({ type: 'number', kind: 'count', name, value: by, labels }),
    gauge: (name, value, labels = {}) => post({ type: 'number', kind: 'gauge', name, value, labels }),
    observe: (name, seconds, labels = {}) => post({ type: 'number', kind: 'observe', name, value: seconds, labels }),
  };
}
