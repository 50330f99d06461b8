import { command, exitCodes } from './command.ts';
import { UsageError } from './option.ts';

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
