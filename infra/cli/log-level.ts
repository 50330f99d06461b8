import type { LogLevel } from '../../shared/runtime/log.ts';
import { UsageError } from './command.ts';

/** The level that `--log-level` names; default info. */
export function logLevel(text = 'info'): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new UsageError(`--log-level ${text} is none of debug, info, warn, error`);
}
