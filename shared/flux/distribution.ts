import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { originOf } from '../config/origins.ts';
import { ConfigError, fileProblem, ShootFluxError } from '../errors.ts';
import type { Distribution, Release } from './release.ts';
import { readRelease } from './release-files.ts';
import { compareVersions } from './versions.ts';

const opened = new Map<string, Distribution>();

/** Returns the distribution of a folder, which is opened once per process. */
export function distributionAt(dir: string): Distribution {
  const distribution = opened.get(dir) ?? openDistribution(dir);
  opened.set(dir, distribution);
  return distribution;
}

/**
 * Opens a distribution folder: `<dir>/v2.9.4/source-controller.yaml`, … as in a release's manifests.tar.gz. It may be
 * read-only. A release is read on first use, and only once.
 */
export function openDistribution(dir: string): Distribution {
  const releases = new Map<string, Promise<Release>>();
  const load = async (version: string) => {
    const available = await versionsIn(dir);
    if (available.includes(version)) return readRelease(join(dir, version), version);
    const message = `resolves to Flux ${version}, which is not in the distribution; available releases are ${available.join(', ') || 'none'}`;
    throw new ConfigError([{ ...originOf({}, 'flux.version'), message }]);
  };
  return {
    versions: () => versionsIn(dir),
    release(version) {
      const release = releases.get(version) ?? load(version);
      releases.set(version, release);
      // Failures are not cached, because the folder may be repaired.
      release.catch(() => releases.delete(version));
      return release;
    },
  };
}

async function versionsIn(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const folders = entries.filter((entry) => !entry.isFile() && semver.valid(entry.name) !== null);
    return folders.map(({ name }) => name).sort((one, other) => compareVersions(other, one));
  } catch (error) {
    throw new ShootFluxError(
      `cannot read Flux distribution ${dir}: ${fileProblem(error, 'folder')}; use a folder with one subfolder per release.`,
    );
  }
}
