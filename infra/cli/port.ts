import { UsageError } from './command.ts';

/** The number of a port; undefined when the option is not given. @throws UsageError */
export function portOf(option: string, text: string): number;
export function portOf(option: string, text: string | undefined): number | undefined;
export function portOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number < 65536) return number;
  throw new UsageError(`${option} ${text} is not a port`);
}
