import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { errorMessage } from '../../shared/errors.ts';

/** The input and output of a command. */
export interface Terminal {
  /** Data. */
  out(text: string): void;
  /** Messages for people. */
  err(text: string): void;
  /** All of standard input. */
  stdin(): Promise<string>;
}

/** Exit codes of every command. */
export const exitCodes = { success: 0, failure: 1, wrongUsage: 2 } as const;

/** The command line is wrong. The CLI prints the message and points to `--help`. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** An option and what `--help` says about it. */
export interface Option {
  type: 'string' | 'boolean';
  /** True: repeatable. */
  multiple?: boolean;
  /** Name of the value in `--help`, for example `FILE`. */
  value?: string;
  description: string;
  /** True: `--help` marks the option. */
  required?: true;
}

/** The parsed values of options: a string, a flag, or a list of strings. */
export type Values<O extends Record<string, Option>> = {
  [Name in keyof O]?: O[Name] extends { type: 'boolean' }
    ? boolean
    : O[Name] extends { multiple: true }
      ? string[]
      : string;
};

/** A command, as its file defines it. */
export interface CommandDefinition<O extends Record<string, Option>> {
  name: string;
  /** One line that says what the command does. */
  summary: string;
  /** Follows the name in the usage line, for example `make|inspect`. Absent: the command takes no arguments. */
  positionals?: string;
  options: O;
  /** Shown at the end of `--help`. */
  notes?: string;
  /** @returns the exit code */
  run(values: Values<O>, positionals: string[], terminal: Terminal): Promise<number>;
}

/** A command that parses its own arguments. */
export interface Command {
  run(args: string[], terminal: Terminal): Promise<number>;
}

const help: Option = { type: 'boolean', description: 'Show this help.' };

/** Adds parsing and `--help` to a command. */
export function command<const O extends Record<string, Option>>(definition: CommandDefinition<O>): Command {
  const options: Record<string, Option> = { ...definition.options, help };
  return {
    async run(args, terminal) {
      const { values, positionals } = parse(args, options);
      if (values.help === true) {
        terminal.out(helpText(definition, options));
        return exitCodes.success;
      }
      if (positionals.length > 0 && definition.positionals === undefined) {
        throw new UsageError(`unexpected argument "${positionals[0]}"`);
      }
      return definition.run(values as Values<O>, positionals, terminal);
    },
  };
}

function parse(args: string[], options: Record<string, Option>) {
  const descriptors = Object.entries(options).map(([name, { type, multiple = false }]) => {
    const descriptor: ParseArgsOptionDescriptor = { type, multiple };
    return [name, descriptor] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(descriptors), allowPositionals: true });
  } catch (error) {
    // The first sentence names the user's mistake; the rest explains how the parser works.
    throw new UsageError(usageProblem(errorMessage(error).split(/\.\s/)[0] ?? ''));
  }
}

/** Quotes and starts the parser's sentences like ours: `unknown option "--frob"`. */
function usageProblem(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/'([^']*)'/g, '"$1"');
}

function helpText(definition: CommandDefinition<Record<string, Option>>, options: Record<string, Option>): string {
  const rows = Object.entries(options).map(([name, { value, description, required }]): [string, string] => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    required ? description.replace(/\.$/, ' (required).') : description,
  ]);
  const usage = ['shoot-flux', definition.name, definition.positionals, '[options]'].filter(Boolean).join(' ');
  const notes = definition.notes === undefined ? [] : ['', definition.notes];
  return `${['Usage:', `  ${usage}`, '', definition.summary, '', 'Options:', ...columns(rows), ...notes].join('\n')}\n`;
}

/** Returns lines with the second column aligned. */
export function columns(rows: [string, string][]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `${first.padEnd(width)}  ${second}`.trimEnd());
}
