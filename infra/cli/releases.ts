import { join } from 'node:path';
import { ShootFluxError } from '../../shared/errors.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import type { Distribution, Release } from '../../shared/flux/release.ts';

/**
 * The releases of a distribution, newest first.
 * @throws ShootFluxError when there is none: nothing that a configuration says can help then
 */
export async function releasesOf(distribution: Distribution, dir: string): Promise<string[]> {
  const releases = await distribution.versions();
  if (releases.length > 0) return releases;
  throw new ShootFluxError(`${dir} holds no Flux release: it needs folders such as v2.9.4, see distribution make.`);
}

/**
 * Reads every release once, some 50 ms each: what would fail at the first Shoot that gets it is a mistake of now.
 * @throws ShootFluxError naming what is wrong with one of them
 */
export async function checkReleases(dir: string, versions: string[]): Promise<void> {
  const distribution = openDistribution(dir);
  for (const version of versions) checkComplete(await distribution.release(version), join(dir, version));
}

/**
 * Whether all files of a release are there that every installation needs.
 * @param from where its files come from
 * @throws ShootFluxError naming those that are missing
 */
export function checkComplete(release: Release, from: string): void {
  const missing = ['policies', 'rbac', 'source-controller'].filter((name) => !release.files.has(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `${name}.yaml`).join(', ');
  throw new ShootFluxError(`${from}: without ${names}: give all files of one release.`);
}
