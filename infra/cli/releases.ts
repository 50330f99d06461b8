import { join } from 'node:path';
import { ShootFluxError } from '../../shared/errors.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import type { Distribution, Release } from '../../shared/flux/release.ts';

/**
 * Returns the Flux releases of a distribution, newest first.
 * @throws ShootFluxError when there is none, because then no configuration can work
 */
export async function releasesOf(distribution: Distribution, dir: string): Promise<string[]> {
  const releases = await distribution.versions();
  if (releases.length > 0) return releases;
  throw new ShootFluxError(`${dir} holds no Flux release; add one with "distribution make".`);
}

/**
 * Reads every Flux release once, so that a broken one fails at start and not at the first Shoot that gets it.
 * @throws ShootFluxError that names the broken file
 */
export async function checkReleases(dir: string, versions: string[]): Promise<void> {
  // One at a time: together they would take 20 MB that the process never gives back.
  for (const version of versions) checkComplete(await openDistribution(dir).release(version), join(dir, version));
}

/**
 * Checks that a Flux release has the files that every installation needs.
 * @param from where its files come from
 * @throws ShootFluxError that names the missing files
 */
export function checkComplete(release: Release, from: string): void {
  const missing = ['policies', 'rbac', 'source-controller'].filter((name) => !release.files.has(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `${name}.yaml`).join(', ');
  throw new ShootFluxError(`${from} lacks ${names}; provide all files of one release.`);
}
