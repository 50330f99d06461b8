import { findCommand, summaries } from './cli.ts';
import { command, exitCodes } from './command.ts';
import { type Terminal, UsageError } from './option.ts';

/** Scripts that ask the program itself, so that they never fall behind it. */
const scripts: Record<string, string> = {
  bash: `_shoot_flux() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(shoot-flux __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:' | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _shoot_flux shoot-flux
`,
  zsh: `#compdef shoot-flux
_shoot_flux() {
  local -a found
  found=("\${(@f)$(shoot-flux __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:' | sed $'s/:/\\\\\\\\:/g; s/\\t/:/')}")
  if [[ -n "$found" ]]; then _describe 'shoot-flux' found; else _files; fi
}
compdef _shoot_flux shoot-flux
`,
  fish: `complete -c shoot-flux -a "(shoot-flux __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ':*')"
`,
};

export default command({
  name: 'completion',
  summary: 'Print a script that completes command lines.',
  positionals: Object.keys(scripts).join('|'),
  options: {},
  notes: 'For example in ~/.bashrc: source <(shoot-flux completion bash)',
  async run(_, [shell = ''], terminal) {
    const script = scripts[shell];
    if (script === undefined) throw new UsageError(`name a shell: ${Object.keys(scripts).join(', ')}`);
    terminal.out(script);
    return exitCodes.success;
  },
});

/**
 * Prints what may follow, in the form of cobra that flux and kubectl ask plugins for: one candidate per line with its
 * description, and a directive that says to complete file names otherwise (`:0`), or nothing (`:4`).
 * @param args all words after the program; the last one is the word to complete, and may be empty
 */
export async function complete(args: string[], terminal: Terminal): Promise<number> {
  const word = args.at(-1) ?? '';
  const found = await candidates(args.slice(0, -1), word);
  const lines = (found ?? []).filter(([name]) => name.startsWith(word)).map(([name, text]) => `${name}\t${text}`);
  terminal.out([...lines, found === undefined ? ':0' : ':4', ''].join('\n'));
  return exitCodes.success;
}

/** Returns what may follow, with descriptions; undefined: the name of a file. */
async function candidates([name, ...rest]: string[], word: string): Promise<[string, string][] | undefined> {
  if (name === undefined) return summaries();
  const { options, positionals = '' } = (await findCommand(name))?.definition ?? { options: {} };
  const plain = (words: readonly string[]) => words.map((one): [string, string] => [one, '']);
  const before = rest.at(-1) ?? '';
  const [, option] =
    Object.entries(options).find(([flag, { short }]) => [`--${flag}`, `-${short}`].includes(before)) ?? [];
  if (option?.type === 'string') {
    const isFile = option.words === undefined && /FILE|DIR|KUBECONFIG/.test(option.value ?? '');
    return isFile ? undefined : plain(option.words ?? []);
  }
  if (word.startsWith('-')) {
    const flags = Object.entries(options).filter(([, { type }]) => type !== 'nested');
    return flags.map(([flag, { description }]) => [`--${flag}`, description]);
  }
  // Words in small letters stand for themselves, for example make|inspect.
  return plain(/^[a-z|]+$/.test(positionals) ? positionals.split('|') : []);
}
