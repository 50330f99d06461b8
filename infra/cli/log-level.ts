import type { LogLevel } from '../../shared/runtime/log.ts';
import { UsageError } from './command.ts';

/** Returns the level that `--log-level` names; default `info`. @throws UsageError */
export function logLevel(text = 'info'): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new UsageError(`--log-level ${text} is not debug, info, warn or error`);
}
