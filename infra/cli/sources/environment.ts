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

/** Returns the first variable with a value among those that others set for an option, and the value of the option. */
export function fromFallback({ fallback, multiple }: Option, variables: Variables): [name: string, Value] | undefined {
  for (const [name, entryOf] of Object.entries(fallback?.variables ?? {})) {
    const text = variables[name]?.trim();
    if (text) return [name, multiple === true ? [entryOf(text)] : entryOf(text)];
  }
  return undefined;
}

/** Returns the entries of a text that separates them by commas. */
export function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
