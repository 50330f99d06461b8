import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { makeRelease } from '../infra/cli/distribution-make.ts';
import { openDistribution } from '../shared/flux/distribution.ts';

/** Returns a folder with the releases of another one as `distribution make` prepares them, deleted when the process ends. */
export async function madeDistribution(releases: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'made-distribution-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const quiet = { out: () => {}, err: () => {}, stdin: async () => '', environment: {} };
  for (const version of await openDistribution(releases).versions()) {
    await makeRelease({ dir, from: join(releases, version), version }, quiet);
  }
  return dir;
}

/** Returns the Flux releases of the test data in the same form; undefined where they are missing. */
export async function testDistribution(): Promise<string | undefined> {
  const releases = testData('flux');
  return releases === undefined ? undefined : madeDistribution(releases);
}
