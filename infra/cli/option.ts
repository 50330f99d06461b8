import { ShootFluxError } from '../../shared/errors.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  out(text: string): void;
  /** Messages for people. */
  err(text: string): void;
  stdin(): Promise<string>;
  environment: Variables;
  /** True: a person reads the output, so that it may have colours. */
  isTerminal?: boolean;
  /** The file that was started; its name says how people call the command. */
  file?: string;
}

/** The command line is wrong. The CLI prints the message and points to `--help`. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The credentials do not show what was asked for. The message says what to change. */
export class UnseenError extends ShootFluxError {
  override name = 'UnseenError';
}

/** @throws UsageError */
export function missing(option: string): never {
  throw new UsageError(`option ${option} is required`);
}

export interface Option {
  /** `nested`: an object, which only the config file can hold. */
  type: 'string' | 'boolean' | 'nested';
  /** One letter, for example `n` for `-n`. */
  short?: string;
  /** True: repeatable; a list in the config file, and entries separated by commas in an environment variable. */
  multiple?: boolean;
  /** True: each entry has the form NAME=VALUE; an object in the config file. */
  map?: boolean;
  /** Name of the value in `--help`, for example `FILE`. */
  value?: string;
  description: string;
  /** Shown behind the description. */
  default?: string;
  /** True: `--help` marks the option. */
  required?: true | undefined;
  /** Its key in the config file, if that is not the flag's own name; in capitals, its environment variable. */
  key?: string;
  words?: readonly string[];
  /** The least and the greatest whole number that it may be. */
  range?: readonly [number, number];
  /** Returns what is wrong with one of the entries, or with a value that is neither a word nor in the range. */
  problem?: (text: string) => string | undefined;
  /** Variables that others set; the first one with a value counts, where no flag, variable or file names the option. */
  fallback?: { setBy: string; variables: Readonly<Record<string, (text: string, all: Variables) => string>> };
}

type More = Omit<Option, 'type' | 'multiple' | 'value' | 'description' | 'words' | 'range'>;

/** An option with a value, and what `--help` calls the value. */
export function text(
  value: string,
  description: string,
  more: More = {},
): Option & { type: 'string'; multiple?: false } {
  return { type: 'string', value, description, ...more };
}

/** The same, repeatable. */
export function list(value: string, description: string, more: More = {}): Option & { type: 'string'; multiple: true } {
  return { type: 'string', value, description, multiple: true, ...more };
}

/** An option whose value is one of a few words. */
export function word<const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  more: { value?: string; default?: string } = {},
): Option & { type: 'string'; words: readonly Word[] } {
  const problem = () => `is not ${words.join(', ').replace(/, ([^,]+)$/, ' or $1')}`;
  return { type: 'string', value: words.join('|'), description, default: words[0], words, problem, ...more };
}

/** An option whose value is a port. */
export function port(description: string, usual?: string) {
  const range = [0, 65_535] as const;
  const more = usual === undefined ? {} : { default: usual };
  return { type: 'string', value: 'N', description, ...more, range, problem: () => 'is not a port' } as const;
}

/** The parsed values of options: a string or one of its words, a number, a flag, or a list of strings. */
export type Values<O extends Record<string, Option>> = { [Name in keyof O]?: ValueOf<O[Name]> };

type ValueOf<O extends Option> = O extends { type: 'nested' }
  ? unknown
  : O extends { type: 'boolean' }
    ? boolean
    : O extends { multiple: true }
      ? string[]
      : O extends { words: readonly (infer Word)[] }
        ? Word
        : O extends { range: object }
          ? number
          : string;

export type FlagValue = string | boolean | (string | boolean)[] | undefined;
