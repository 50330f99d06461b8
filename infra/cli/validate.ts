import { projectLayers } from '../../shared/config/project-layers.ts';
import { ConfigError, issueText } from '../../shared/errors.ts';
import { command, exitCodes } from './command.ts';
import { validateFleet } from './fleet.ts';
import { type CliInputs, inputNotes, inputOptions, readInputs } from './inputs.ts';
import { renderOffline } from './offline.ts';
import { type Terminal, UsageError } from './option.ts';

export default command({
  name: 'validate',
  summary: 'Check a configuration: print nothing, or one line for each issue.',
  options: {
    ...inputOptions,
    fleet: {
      type: 'string',
      value: 'DIR',
      description: 'Check every Shoot in the files of a folder instead, and print a line for each.',
    },
    json: { type: 'boolean', description: 'Print the issues as a JSON list.' },
  },
  notes: inputNotes,
  async run(values, _, terminal) {
    const inputs = await readInputs(values, terminal);
    if (values.fleet !== undefined) return checkFleet(values.fleet, values, inputs, terminal);
    try {
      const warnings = await checkAll(inputs);
      for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
      if (values.json) terminal.out('[]\n');
      return exitCodes.success;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const lines = error.issues.map((issue) => `${issueText(issue)}\n`);
      terminal.out(values.json ? `${JSON.stringify(error.issues, null, 2)}\n` : lines.join(''));
      return exitCodes.failure;
    }
  },
});

/** Checks what a Shoot would get, and the overrides that select other Shoots. @returns the warnings */
async function checkAll(inputs: CliInputs): Promise<string[]> {
  const ofProject = projectLayers(inputs.config.fluxConfig, undefined).issues;
  let warnings: string[];
  try {
    ({ warnings } = await renderOffline(inputs));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const known = new Set(error.issues.map(issueText));
    throw new ConfigError([...error.issues, ...ofProject.filter((issue) => !known.has(issueText(issue)))]);
  }
  if (ofProject.length > 0) throw new ConfigError(ofProject);
  return warnings;
}

async function checkFleet(
  folder: string,
  { shoot, 'provider-config': providerConfig, json }: { shoot?: string; 'provider-config'?: string; json?: boolean },
  inputs: CliInputs,
  terminal: Terminal,
): Promise<number> {
  if (shoot !== undefined || providerConfig !== undefined) {
    throw new UsageError('--fleet reads the Shoots of a folder; omit --shoot and --provider-config');
  }
  const verdicts = await validateFleet(folder, inputs, terminal);
  const lines = verdicts.map(({ shoot: name, sentence }) => `${name}: ${sentence ?? 'ok'}\n`);
  terminal.out(json ? `${JSON.stringify(verdicts, null, 2)}\n` : lines.join(''));
  return verdicts.some(({ sentence }) => sentence !== undefined) ? exitCodes.failure : exitCodes.success;
}
