import { UsageError } from './command.ts';

/** Returns the number of a port, or undefined when the option is absent. @throws UsageError */
export function portOf(option: string, text: string): number;
export function portOf(option: string, text: string | undefined): number | undefined;
export function portOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number < 65536) return number;
  throw new UsageError(`${option} ${text} is not a port`);
}
