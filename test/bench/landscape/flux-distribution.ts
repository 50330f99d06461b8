import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRelease } from '../../../infra/cli/distribution-make.ts';
import { openDistribution } from '../../../shared/flux/distribution.ts';
import { sharedData } from '../../real/shared-data.ts';

/** The Flux releases that a bench works with: real ones where they lie beside the repository, else the small stand-in. */
export const fluxReleases = sharedData('flux') ?? join(import.meta.dirname, '../../landscape/distribution');

/** The same releases as `distribution make` prepares them for operators; deleted when the process ends. */
export const fluxDistribution = await mkdtemp(join(tmpdir(), 'bench-distribution-'));
process.on('exit', () => rmSync(fluxDistribution, { recursive: true, force: true }));

for (const version of await openDistribution(fluxReleases).versions()) {
  const quiet = { out: () => {}, err: () => {}, stdin: async () => '' };
  await makeRelease({ dir: fluxDistribution, from: join(fluxReleases, version), version }, quiet);
}
