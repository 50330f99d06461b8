import type { Distribution, Release } from '../../shared/flux/release.ts';
import { ShootFluxError } from '../../shared/runtime/errors.ts';

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
