import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shown } from '../../shared/config/quote.ts';
import { asObject } from '../../shared/config/values.ts';
import { ConfigError, fileProblem, issueText, ShootFluxError } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { type CliInputs, withShoot } from './inputs.ts';
import { renderOffline } from './offline.ts';
import type { Terminal } from './option.ts';
import { readDocuments } from './read-file.ts';

/** A Shoot of a fleet, and its first issue if it has any. */
export interface Verdict {
  /** The file, and the Shoot in it. */
  shoot: string;
  sentence?: string;
  /** Why it was not checked. */
  skipped?: string;
}

/**
 * Checks what each Shoot in the files of a folder would get, each with its own labels, resources and providerConfig.
 * Other objects in these files are ignored.
 */
export async function validateFleet(folder: string, inputs: CliInputs, terminal: Terminal): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await filesIn(folder)) {
    for (const document of await documentsIn(join(folder, file), terminal)) {
      if (document instanceof ShootFluxError) verdicts.push({ shoot: file, sentence: document.message });
      else if (asObject(document)?.kind === 'Shoot') verdicts.push(await verdictOn(document, file, inputs));
    }
  }
  if (verdicts.length === 0) throw new ShootFluxError(`${folder} has no file with a Shoot; name a folder of Shoots.`);
  return verdicts;
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
  } catch (error) {
    throw new ShootFluxError(`cannot read ${folder}: ${fileProblem(error, 'folder')}; name a folder of Shoots.`);
  }
}

async function documentsIn(path: string, terminal: Terminal): Promise<unknown[]> {
  try {
    return await readDocuments(path, terminal);
  } catch (error) {
    if (error instanceof ShootFluxError) return [error];
    throw error;
  }
}

async function verdictOn(document: unknown, file: string, inputs: CliInputs): Promise<Verdict> {
  const name = asObject(asObject(document)?.metadata)?.name;
  const shoot = typeof name === 'string' ? `${file} (${name})` : file;
  const skipped = whySkipped(document, inputs);
  if (skipped !== undefined) return { shoot, skipped };
  try {
    await renderOffline(withShoot(inputs, document, file));
    return { shoot };
  } catch (error) {
    if (error instanceof ConfigError) {
      const [first, ...others] = error.issues.map(issueText);
      return { shoot, sentence: `${first}${others.length > 0 ? ` (and ${others.length} more)` : ''}` };
    }
    if (error instanceof ShootFluxError) return { shoot, sentence: error.message };
    throw error;
  }
}

/** A folder may hold Shoots of other projects, and some that have switched the extension off. */
function whySkipped(document: unknown, { config }: CliInputs): string | undefined {
  const { metadata, spec } = asObject(document) ?? {};
  const { namespace } = asObject(metadata) ?? {};
  const ofProject = config.fluxConfig?.namespace ?? '';
  if (typeof namespace === 'string' && ofProject !== '' && namespace !== ofProject) {
    return `it is in namespace ${shown(namespace)}, and the ConfigMap in ${shown(ofProject)}`;
  }
  const extensions = asObject(spec)?.extensions;
  const own = (Array.isArray(extensions) ? extensions : [])
    .map(asObject)
    .find((entry) => entry?.type === EXTENSION_TYPE);
  return own?.disabled === true ? 'it has the extension disabled' : undefined;
}
