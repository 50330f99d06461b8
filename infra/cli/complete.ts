import { findCommand, summaries } from './cli.ts';
import { exitCodes } from './command.ts';
import type { Option, Terminal } from './option.ts';

/** What cobra tells the shell: complete file names otherwise, or nothing. */
const directives = { files: ':0', nothing: ':4' } as const;

/**
 * Prints what may follow, in the form of cobra that flux and kubectl ask plugins for: one candidate per line with its
 * description, and a directive.
 * @param args all words after the program; the last one is the word to complete, and may be empty
 */
export async function complete(args: string[], terminal: Terminal): Promise<number> {
  const word = args.at(-1) ?? '';
  const before = args.slice(0, -1);
  const { found, directive } = await candidates(before, word);
  const lines = found.filter(([name]) => name.startsWith(word)).map(([name, text]) => `${name}\t${text}`);
  terminal.out([...lines, directive, ''].join('\n'));
  return exitCodes.success;
}

interface Candidates {
  found: [string, string][];
  directive: string;
}

async function candidates([name, ...rest]: string[], word: string): Promise<Candidates> {
  const { files, nothing } = directives;
  if (name === undefined) return { found: summaries(), directive: nothing };
  const command = await findCommand(name);
  if (command === undefined) return { found: [], directive: nothing };
  const { options, positionals = '' } = command.definition;
  const option = optionOf(rest.at(-1) ?? '', options);
  if (option !== undefined && option.type === 'string') {
    const words = option.words ?? [];
    return {
      found: words.map((one) => [one, '']),
      directive: /FILE|DIR|KUBECONFIG/.test(option.value ?? '') ? files : nothing,
    };
  }
  if (word.startsWith('-')) {
    const flags = Object.entries(options).filter(([, { type }]) => type !== 'nested');
    return { found: flags.map(([flag, { description }]) => [`--${flag}`, description]), directive: nothing };
  }
  // Words in small letters stand for themselves, for example make|inspect.
  const words = /^[a-z|]+$/.test(positionals) ? positionals.split('|') : [];
  return { found: words.map((one) => [one, '']), directive: nothing };
}

/** Returns the option whose value comes next. */
function optionOf(flag: string, options: Record<string, Option>): Option | undefined {
  if (flag.startsWith('--')) return options[flag.slice(2)];
  return Object.values(options).find(({ short }) => short !== undefined && flag === `-${short}`);
}
