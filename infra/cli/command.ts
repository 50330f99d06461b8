import { basename } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { errorMessage } from '../../shared/errors.ts';
import { createLog, type Log } from '../../shared/runtime/log.ts';
import { untilSignal } from '../process/signals.ts';
import { type FlagValue, type Option, type Terminal, text, UsageError, type Values } from './option.ts';
import { logOptions } from './options.ts';
import { readDocument } from './read-file.ts';
import { fromAllSources, fromFlags } from './sources.ts';

/** `failure` is also that something is not Ready; `unseen`, that the credentials do not show what was asked for. */
export const exitCodes = { success: 0, failure: 1, wrongUsage: 2, unseen: 3 } as const;

/** Names of the file under which kubectl and flux find a plugin, and how people call it. */
export const plugins: Readonly<Record<string, string>> = {
  'kubectl-shoot_flux': 'kubectl shoot-flux',
  'flux-shoot': 'flux shoot',
};

/** Returns how people call the program. */
export function programOf({ file = '' }: Terminal): string {
  return plugins[basename(file)] ?? 'shoot-flux';
}

/** A command, as its file defines it. */
interface CommandDefinition<O extends Record<string, Option>> {
  name: string;
  /** One line that says what the command does. */
  summary: string;
  /** Follows the name in the usage line, for example `make|inspect`. Absent: the command takes no arguments. */
  positionals?: string;
  options: O;
  /** True for a command that runs until a signal: it also reads environment variables and a config file. */
  isService?: true;
  notes?: string;
  /** @returns the exit code */
  run(values: Values<O>, positionals: string[], terminal: Terminal): Promise<number>;
}

type Definition = Omit<CommandDefinition<Record<string, Option>>, 'run'>;

/** A command that parses its own arguments. */
export interface Command {
  definition: Definition;
  run(args: string[], terminal: Terminal): Promise<number>;
}

interface ServiceDefinition<O extends Record<string, Option>> extends Omit<CommandDefinition<O>, 'isService' | 'run'> {
  /** @returns the first line of the process, and what ends it */
  start(
    values: Values<O>,
    positionals: string[],
    terminal: Terminal,
    log: Log,
  ): Promise<{ line: string; stop(): Promise<void> }>;
}

/** Makes a command that runs until a signal. */
export function service<const O extends Record<string, Option>>({ start, ...rest }: ServiceDefinition<O>): Command {
  const options = { ...rest.options, ...logOptions };
  const config = text('FILE', 'Config file with any of these options, in YAML or JSON.');
  return command<Record<string, Option>>({
    ...rest,
    options: { ...options, config },
    isService: true,
    async run(flags, positionals, terminal) {
      const read = async (path: string) => (await readDocument(path, terminal)) ?? {};
      const values = await fromAllSources(options, { flags: flags as Flags, environment: terminal.environment, read });
      const log = createLog((values as Values<typeof logOptions>)['log-level']);
      // Registered first, so that a signal during the start is not lost.
      using signals = untilSignal();
      const { line, stop } = await start(values as Values<O>, positionals, terminal, log);
      terminal.err(`shoot-flux ${line}\n`);
      log.info('stopping', { signal: await signals.first });
      await stop();
      return exitCodes.success;
    },
  });
}

/** Returns a service in the file that has none. */
export function elsewhere(name: string): Command {
  return command({
    name,
    summary: 'A part of the image, which this file does not have.',
    options: {},
    run: async () => {
      throw new UsageError(`${name} is a part of the image: deploy it with the chart, or run it from a checkout`);
    },
  });
}

type Flags = Record<string, FlagValue>;

const help: Option = { type: 'boolean', short: 'h', description: 'Show this help.' };

/** Adds parsing and `--help` to a command. */
export function command<const O extends Record<string, Option>>({ run, ...given }: CommandDefinition<O>): Command {
  const definition: Definition = { ...given, options: { ...given.options, help } };
  return {
    definition,
    async run(args, terminal) {
      const { values: flags, positionals, tokens } = parse(args, definition);
      if (flags.help === true) {
        terminal.out(helpText(definition, programOf(terminal)));
        return exitCodes.success;
      }
      if (positionals.length > 0 && definition.positionals === undefined) {
        throw new UsageError(`unexpected argument "${positionals[0]}"`);
      }
      const written = tokens.filter((token) => token.kind === 'option');
      // A service may have them from elsewhere, too.
      const values = definition.isService ? flags : fromFlags(definition.options, flags, written);
      return run(values as Values<O>, positionals, terminal);
    },
  };
}

function parse(args: string[], { options, isService }: Definition) {
  const descriptors = Object.entries(options).flatMap(([name, { type, multiple = false, short }]) =>
    type === 'nested' ? [] : [[name, { type, multiple, ...(short !== undefined && { short }) }] as const],
  );
  const config = { allowPositionals: true, allowNegative: isService === true, tokens: true } as const;
  try {
    return parseArgs({ args, options: Object.fromEntries(descriptors), ...config });
  } catch (error) {
    // The first sentence names the user's mistake; the rest explains how the parser works.
    throw new UsageError(usageProblem(errorMessage(error).split(/\.\s/)[0] ?? ''));
  }
}

/** Quotes and starts the parser's sentences like ours: `unknown option "--frob"`. */
function usageProblem(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/'([^']*)'/g, '"$1"');
}

function helpText({ name, summary, positionals, options, notes }: Definition, program: string): string {
  const flags = Object.entries(options).filter(([, { type }]) => type !== 'nested');
  const rows = flags.map(([name, option]): [string, string] => [
    `  ${option.short === undefined ? '' : `-${option.short}, `}--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
    helpLine(option),
  ]);
  const usage = [program, name, positionals, '[options]'].filter(Boolean).join(' ');
  const end = notes === undefined ? [] : ['', notes];
  return `${['Usage:', `  ${usage}`, '', summary, '', 'Options:', ...columns(rows), ...end].join('\n')}\n`;
}

function helpLine({ description, required, default: usual }: Option): string {
  const sentence = required ? description.replace(/\.$/, ' (required).') : description;
  return usual === undefined ? sentence : `${sentence} Default: ${usual}.`;
}

/** Returns lines with aligned columns, of which the last one is not padded. @param gap between them */
export function columns(rows: readonly string[][], gap = 2): string[] {
  const widthOf = (cell = '') => stripVTControlCharacters(cell).length;
  const widths = (rows[0] ?? []).map((_, at) => rows.reduce((most, row) => Math.max(most, widthOf(row[at])), 0) + gap);
  const padded = (cell: string, at: number) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell));
  return rows.map((row) => [...row.slice(0, -1).map(padded), ...row.slice(-1)].join('').trimEnd());
}
