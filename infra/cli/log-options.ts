import type { LogLevel } from '../../shared/runtime/log.ts';
import { UsageError, type Values } from './option.ts';
import type { logOptions } from './options.ts';
import { quoted } from './sources/origins.ts';

/** @throws UsageError */
export function logLevelOf(values: Values<typeof logOptions>): LogLevel {
  const text = values['log-level'] ?? 'info';
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new UsageError(`${quoted(values, 'log-level', text)} is not debug, info, warn or error`);
}
