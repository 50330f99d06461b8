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
): Log {
  return logTo((at, message, fields) => {
    if (order[at] < order[level]) return;
    write(JSON.stringify({ time: new Date().toISOString(), level: at, message, ...fields }));
  });
}

/** Returns a log whose lines go to a function. */
export function logTo(line: (level: LogLevel, message: string, fields: LogFields) => void, base: LogFields = {}): Log {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => line(level, message, { ...base, ...fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logTo(line, { ...base, ...fields }),
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
