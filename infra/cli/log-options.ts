import type { LogLevel } from '../../shared/runtime/log.ts';
import { choiceOf, choices, wordsOf } from '../choices.ts';
import { UsageError, type Values } from './option.ts';
import type { logOptions } from './options.ts';
import { quoted } from './sources/origins.ts';

/** @throws UsageError */
export function logLevelOf(values: Values<typeof logOptions>): LogLevel {
  const text = values['log-level'] ?? choices['log-level'][0];
  const level = choiceOf('log-level', text);
  if (level !== undefined) return level;
  throw new UsageError(`${quoted(values, 'log-level', text)} is not ${wordsOf('log-level')}`);
}
