import semver from 'semver';
import { projectLayers } from '../../shared/config/project-layers.ts';
import { ConfigError, issueText } from '../../shared/errors.ts';
import { command, exitCodes } from './command.ts';
import { type Verdict, validateFleet } from './fleet.ts';
import { type CliInputs, inputNotes, inputOptions, readInputs } from './inputs.ts';
import { renderOffline } from './offline.ts';
import { type Terminal, UsageError } from './option.ts';
import { upgradeWarnings } from './upgrade-warnings.ts';

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
    'upgrade-from': {
      type: 'string',
      value: 'VERSION',
      description: 'The Flux release that runs now: warn of what behaves differently after the upgrade.',
    },
    json: { type: 'boolean', description: 'Print the issues as a JSON list.' },
  },
  notes: inputNotes,
  async run(values, _, terminal) {
    const from = releaseIn(values['upgrade-from']);
    const inputs = await readInputs(values, terminal);
    if (values.fleet !== undefined) {
      if (from !== undefined) throw new UsageError('--upgrade-from is for one Shoot; omit --fleet');
      return checkFleet(values.fleet, values, inputs, terminal);
    }
    try {
      const warnings = await checkAll(inputs, from);
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

function releaseIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (semver.valid(text) === null) throw new UsageError('--upgrade-from needs a release, for example v2.8.8');
  return text.startsWith('v') ? text : `v${text}`;
}

/** Checks what a Shoot would get, and the overrides that select other Shoots. @returns the warnings */
async function checkAll(inputs: CliInputs, from: string | undefined): Promise<string[]> {
  const ofProject = projectLayers(inputs.config.fluxConfig, undefined).issues;
  let warnings: string[];
  try {
    const rendered = await renderOffline(inputs);
    warnings = [...rendered.warnings, ...upgradeWarnings(from, rendered)];
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
  const { verdicts, warnings } = await validateFleet(folder, inputs, terminal);
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
  const lines = verdicts.map((verdict) => `${verdict.shoot}: ${textOf(verdict)}\n`);
  terminal.out(json ? `${JSON.stringify(verdicts, null, 2)}\n` : lines.join(''));
  return verdicts.some(({ sentence }) => sentence !== undefined) ? exitCodes.failure : exitCodes.success;
}

function textOf({ sentence, skipped, condition }: Verdict): string {
  if (skipped !== undefined) return `skipped, because ${skipped}`;
  return `${sentence ?? 'ok'}${condition === undefined ? '' : ` (if ${condition})`}`;
}
