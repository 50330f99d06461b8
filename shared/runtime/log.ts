import type { DeleteOptions, KubeClient } from '../kube/client.ts';
import type { ObjectName, Resource } from '../kube/resource.ts';

/** The fields of a log line: names, numbers and flags. The type excludes objects, so none is logged by accident. */
export type LogFields = Record<string, string | number | boolean | undefined>;

/** Writes one JSON line for each call, to standard error or where the process's log goes. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Creates a log of JSON lines.
 * @param level lines below it are dropped
 * @param write takes one line without the newline; default: standard error
 */
export function createLog(
  level: LogLevel = 'info',
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  base: LogFields = {},
): Log {
  const line = (at: LogLevel) => (message: string, fields?: LogFields) => {
    if (order[at] < order[level]) return;
    write(JSON.stringify({ time: new Date().toISOString(), level: at, message, ...base, ...fields }));
  };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => createLog(level, write, { ...base, ...fields }),
  };
}

/**
 * Returns a client that logs each object that it deletes, with the reason. An object that did not exist any more is not
 * logged.
 * @param cluster `garden`, the name of a seed, or `shoot`
 */
export function withLoggedDeletions<T extends KubeClient>(client: T, cluster: string, log: Log): T {
  const deleted = async (resource: Resource, name: ObjectName, options: DeleteOptions) => {
    const existed = await client.delete(resource, name, options);
    if (existed) {
      const object = [resource.kind, [name.namespace, name.name].filter(Boolean).join('/')].join(' ');
      log.info('object deleted', { cluster, object, reason: options.reason });
    }
    return existed;
  };
  return { ...client, delete: deleted };
}
