import { readFileSync } from 'node:fs';
import type { Landscape } from '../../shared/config/types.ts';
import { asObject } from '../../shared/config/values.ts';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';

/**
 * Reads the keys `defaults` and `policy` of the config file in the package, in JSON: a parser of YAML would make every
 * cold start slower.
 * @param file the environment variable `CONFIG`; absent or empty: no file
 * @throws ShootFluxError, so that no function works without the policy
 */
export async function landscapeIn(file: string | undefined): Promise<Landscape> {
  if (!file) return {};
  const content = asObject(parsed(file));
  if (content === undefined) throw new ShootFluxError(`${file} is not a JSON object; correct the file of CONFIG.`);
  const known = ['defaults', 'policy'];
  const unknown = Object.keys(content).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new ShootFluxError(
      `${file} has the key ${JSON.stringify(unknown)}; on Lambda it may hold ${known.join(' and ')}.`,
    );
  }
  // Without a landscape, few functions need the code of the configuration, a third of what a cold start imports.
  const { readLandscape } = await import('../../shared/config/landscape.ts');
  return readLandscape(content);
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'it is not JSON' : fileProblem(error);
    throw new ShootFluxError(`cannot read ${file}, which CONFIG names: ${problem}.`);
  }
}
