import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { projectLayers } from '../../shared/config/effective-config.ts';
import { documentsOf, type FluxConfigMap } from '../../shared/config/flux-config-map.ts';
import { isSelected } from '../../shared/config/overrides.ts';
import { asObject, type JsonObject } from '../../shared/config/values.ts';
import { ConfigError, type ConfigIssue, fileProblem, issueText, ShootFluxError } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { command, exitCodes } from './command.ts';
import { type CliInputs, inputNotes, inputOptions, otherNamespaces, readInputs, withShoot } from './inputs.ts';
import { renderOffline, upgradeWarnings } from './offline.ts';
import { type Terminal, text, UsageError } from './option.ts';
import { itemsOf, readDocuments } from './read-file.ts';

export default command({
  name: 'validate',
  summary: 'Check a configuration: print nothing, or one line for each issue.',
  options: {
    ...inputOptions,
    fleet: text('DIR', 'Check every Shoot in the files of a folder instead, and print a line for each.'),
    'upgrade-from': text(
      'VERSION',
      'The Flux release that runs now: warn of what behaves differently after the upgrade.',
    ),
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
  const checked = await checkShoots(folder, inputs, terminal);
  for (const warning of warningsAbout(checked, inputs)) terminal.err(`warning: ${warning}\n`);
  const verdicts = checked.map(({ verdict }) => verdict);
  const lines = verdicts.map((verdict) => `${verdict.shoot}: ${textOf(verdict)}\n`);
  terminal.out(json ? `${JSON.stringify(verdicts, null, 2)}\n` : lines.join(''));
  return verdicts.some(({ sentence }) => sentence !== undefined) ? exitCodes.failure : exitCodes.success;
}

function textOf({ sentence, skipped, condition }: Verdict): string {
  if (skipped !== undefined) return `skipped, because ${skipped}`;
  return `${sentence ?? 'ok'}${condition === undefined ? '' : ` (if ${condition})`}`;
}

/** What `--fleet --json` prints of a Shoot. */
export interface Verdict {
  /** The file, and the Shoot in it. */
  shoot: string;
  sentence?: string;
  /** Why it was not checked. */
  skipped?: string;
  /** What has to be true for this to count. */
  condition?: string;
}

interface Checked {
  verdict: Verdict;
  /** Absent: it is skipped, or cannot be read. */
  labels?: Labels;
}

/** The folder does not say whether the ControllerRegistration enables the extension for all Shoots. */
const NOT_LISTED = 'the extension is enabled for all Shoots, because this one does not list it';

/** Checks what each Shoot in the files of a folder would get. Other objects in these files are ignored. */
async function checkShoots(folder: string, inputs: CliInputs, terminal: Terminal): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const file of await filesIn(folder)) {
    try {
      const objects = (await readDocuments(join(folder, file), terminal)).flatMap(itemsOf);
      for (const shoot of objects.filter(isShoot)) checked.push(await check(shoot, file, inputs));
    } catch (error) {
      checked.push({ verdict: { shoot: file, sentence: sentenceOf(error) } });
    }
  }
  if (checked.length === 0) throw new ShootFluxError(`${folder} has no file with a Shoot; name a folder of Shoots.`);
  return checked;
}

/** One sentence for each override that no Shoot of the fleet gets. While a Shoot cannot be read, an override may be for that one. */
function warningsAbout(checked: readonly Checked[], { config }: CliInputs): string[] {
  const counting = checked.filter(({ verdict }) => verdict.skipped === undefined);
  const labels = counting.flatMap((shoot) => (shoot.labels === undefined ? [] : [shoot.labels]));
  return labels.length < counting.length ? [] : unselectedOverrides(config.fluxConfig, labels).map(issueText);
}

const isShoot = (object: unknown) => asObject(object)?.kind === 'Shoot';

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
  } catch (error) {
    throw new ShootFluxError(`cannot read ${folder}: ${fileProblem(error, 'folder')}; name a folder of Shoots.`);
  }
}

async function check(document: unknown, file: string, inputs: CliInputs): Promise<Checked> {
  const name = asObject(asObject(document)?.metadata)?.name;
  const shoot = typeof name === 'string' ? `${file} (${name})` : file;
  const skipped = whySkipped(document, inputs);
  if (skipped !== undefined) return { verdict: { shoot, skipped } };
  const condition = ownEntry(document) === undefined ? { condition: NOT_LISTED } : {};
  let labels: Labels | undefined;
  let sentence: string | undefined;
  try {
    const ofShoot = withShoot(inputs, document, file);
    labels = ofShoot.config.shoot?.labels ?? {};
    await renderOffline(ofShoot);
  } catch (error) {
    // A Shoot that is not well-formed must not hide the others.
    sentence = sentenceOf(error);
  }
  return { verdict: { shoot, ...(sentence !== undefined && { sentence }), ...condition }, ...(labels && { labels }) };
}

/** @throws the error itself if it is not about what users have written */
function sentenceOf(error: unknown): string {
  if (error instanceof ConfigError) {
    const [first, ...others] = error.issues.map(issueText);
    return `${first}${others.length > 0 ? ` (and ${others.length} more)` : ''}`;
  }
  if (error instanceof ShootFluxError) return error.message;
  throw error;
}

/** A folder may hold Shoots of other projects, and some that have switched the extension off. */
function whySkipped(document: unknown, { config }: CliInputs): string | undefined {
  const other = otherNamespaces(asObject(asObject(document)?.metadata)?.namespace, config);
  if (other !== undefined) return `it is in namespace ${other.ofShoot}, and the ConfigMap in ${other.ofConfig}`;
  return ownEntry(document)?.disabled === true ? 'it has the extension disabled' : undefined;
}

function ownEntry(document: unknown): JsonObject | undefined {
  const extensions = asObject(asObject(document)?.spec)?.extensions;
  return (Array.isArray(extensions) ? extensions : []).map(asObject).find((entry) => entry?.type === EXTENSION_TYPE);
}

type Labels = Readonly<Record<string, string>>;

/** Returns the entries of `overrides.yaml` that select none of some Shoots; nothing is said about no Shoots. */
function unselectedOverrides(fluxConfig: FluxConfigMap | undefined, shoots: readonly Labels[]): ConfigIssue[] {
  if (fluxConfig === undefined || shoots.length === 0) return [];
  const { entries } = documentsOf(fluxConfig).overrides;
  return entries
    .filter(({ selector }) => !shoots.some((labels) => isSelected(labels, selector)))
    .map(({ place }) => ({
      object: place.object,
      path: place.path.replace(/config$/, 'selector'),
      message: 'selects no Shoot of the fleet; correct it, unless Shoots get such labels later',
    }));
}
