import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { testData } from '@shoot-flux/landscape/test-data';
import { makeRelease } from '../../../infra/cli/distribution-make.ts';
import { openDistribution } from '../../../shared/flux/distribution.ts';

/** The Flux releases that the bench works with: those of the test data if they exist, else the small stand-in. */
export const fluxReleases = testData('flux') ?? standInDistribution.folder;

/** The same releases as `distribution make` prepares them for operators; deleted when the process ends. */
export const fluxDistribution = await mkdtemp(join(tmpdir(), 'bench-distribution-'));
process.on('exit', () => rmSync(fluxDistribution, { recursive: true, force: true }));

for (const version of await openDistribution(fluxReleases).versions()) {
  const quiet = { out: () => {}, err: () => {}, stdin: async () => '' };
  await makeRelease({ dir: fluxDistribution, from: join(fluxReleases, version), version }, quiet);
}
