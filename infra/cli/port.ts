import { UsageError } from './option.ts';
import { quoted } from './sources/origins.ts';

/** Returns the number of a port option, or undefined when it is absent. @throws UsageError */
export function portOf<Flag extends string>(values: { [Name in Flag]?: string }, flag: Flag): number | undefined {
  const text = values[flag];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number < 65536) return number;
  throw new UsageError(`${quoted(values, flag, text)} is not a port`);
}
