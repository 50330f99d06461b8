/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The input and output of a command. */
export interface Terminal {
  /** Data. */
  out(text: string): void;
  /** Messages for people. */
  err(text: string): void;
  /** All of standard input. */
  stdin(): Promise<string>;
  /** The environment variables. */
  environment: Variables;
}

/** The command line is wrong. The CLI prints the message and points to `--help`. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** An option and what `--help` says about it. */
export interface Option {
  /** `nested`: an object, which only the config file can hold. */
  type: 'string' | 'boolean' | 'nested';
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
  /** Variables that others set; the first one with a value counts, where no flag, variable or file names the option. */
  fallback?: { setBy: string; variables: Readonly<Record<string, (text: string) => string>> };
}

type More = Omit<Option, 'type' | 'multiple' | 'value' | 'description'>;

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

/** The parsed values of options: a string, a flag, or a list of strings. */
export type Values<O extends Record<string, Option>> = {
  [Name in keyof O]?: O[Name] extends { type: 'nested' }
    ? unknown
    : O[Name] extends { type: 'boolean' }
      ? boolean
      : O[Name] extends { multiple: true }
        ? string[]
        : string;
};

/** A value as a flag sets it. */
export type FlagValue = string | boolean | (string | boolean)[] | undefined;
