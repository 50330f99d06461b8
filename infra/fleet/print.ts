import { styleText } from 'node:util';
import { stringify } from 'yaml';
import { cutExactly } from '../../shared/runtime/safe-text.ts';
import { type Option, type Terminal, word } from '../cli/option.ts';

/** The version of the forms that `-o json` and `-o yaml` print (docs/command.md). */
const FORM = 'shoot-flux/v1';

/** Returns the option `-o` of a command with these forms; the first one is the default. */
export const outputIn = <const Form extends string>(forms: readonly [Form, ...Form[]]) => ({
  output: { ...word(forms, 'Form of the output.'), short: 'o' },
});

export const outputOption = outputIn(['table', 'wide', 'json', 'yaml', 'name']) satisfies Record<string, Option>;

export type Output = (typeof outputOption.output.words)[number];

/** Prints an object in one of the forms for programs. @returns false for the forms for people */
export function printed(output: Output, kind: string, content: object, terminal: Terminal): boolean {
  if (output !== 'json' && output !== 'yaml') return false;
  const document = { apiVersion: FORM, kind, ...content };
  terminal.out(output === 'json' ? `${JSON.stringify(document, null, 2)}\n` : stringify(document));
  return true;
}

export type Color = 'red' | 'green' | 'yellow' | 'dim';

/** Returns the text in a colour where a person reads it (https://no-color.org). */
export function colored(text: string, color: Color, { isTerminal = false, environment }: Terminal): string {
  return isTerminal && !environment.NO_COLOR ? styleText(color, text, { validateStream: false }) : text;
}

/** Returns a text of at most so many characters, whose cut end shows. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${cutExactly(text, most - 1).trimEnd()}…` : text;

/** Returns a text that begins a sentence. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the age of something as `durationText` writes it; empty for what is no time. */
export function ageOf(since: string | undefined, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(since ?? '')) / 1000);
  return Number.isFinite(seconds) ? durationText(Math.max(0, seconds)) : '';
}

/** Returns a duration as kubectl writes it: `45s`, `12m`, `5h`, `3d`. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
