import { type Option, UsageError, type Variables } from '../option.ts';
import { keyOf, variableOf } from './names.ts';
import type { Value } from './value.ts';

/** Returns the value of an option's environment variable. An empty one counts as absent. @throws UsageError */
export function fromEnvironment(flag: string, option: Option, variables: Variables): Value | undefined {
  const variable = variableOf(keyOf(flag, option));
  const text = variables[variable]?.trim();
  if (!text || option.type === 'nested') return undefined;
  if (option.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new UsageError(`${variable}=${text} is not true or false`);
  }
  return option.multiple === true ? entriesOf(text) : text;
}

/** Returns the value of the variable that others set for an option. */
export function fromFallback(option: Option, variables: Variables): Value | undefined {
  const text = option.fallback && variables[option.fallback.variable]?.trim();
  if (!text) return undefined;
  const entry = option.fallback?.entry(text) ?? text;
  return option.multiple === true ? [entry] : entry;
}

/** Returns the entries of a text that separates them by commas. */
export function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
