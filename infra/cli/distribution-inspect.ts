import { join } from 'node:path';
import { errorMessage } from '../../shared/errors.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Distribution } from '../../shared/flux/release.ts';
import { oldestKubernetes } from '../../shared/flux/versions.ts';
import { exitCodes } from './command.ts';
import { tagOf } from './image-digests.ts';
import type { Terminal } from './option.ts';
import { checkComplete } from './releases.ts';

/** The result for one release. */
interface Report {
  version: string;
  /** SHA-256 over its YAML files. */
  digest?: string;
  /** Whether the images are pinned by digest. */
  pinned?: boolean;
  /** Component -> tag of its image. */
  components?: Record<string, string>;
  oldestKubernetes?: string;
  /** Why the release cannot be used. */
  error?: string;
}

/** Prints what a distribution holds. Fails when a release is broken or there is none. */
export async function inspectDistribution(dir: string, json: boolean, terminal: Terminal): Promise<number> {
  const distribution = openDistribution(dir);
  const versions = await distribution.versions();
  const reports = await Promise.all(versions.map((version) => inspectRelease(distribution, dir, version)));
  terminal.out(json ? `${JSON.stringify(reports, null, 2)}\n` : reports.map(text).join(''));
  if (versions.length === 0) terminal.err(`${dir} holds no Flux release; add one with "distribution make".\n`);
  return versions.length === 0 || reports.some(({ error }) => error !== undefined)
    ? exitCodes.failure
    : exitCodes.success;
}

async function inspectRelease(distribution: Distribution, dir: string, version: string): Promise<Report> {
  try {
    const release = await distribution.release(version);
    checkComplete(release, join(dir, version));
    return {
      version,
      digest: release.digest,
      pinned: release.imageDigests !== undefined,
      components: Object.fromEntries(componentsOf(release).map((name) => [name, tagOf(release, name) ?? 'unknown'])),
      oldestKubernetes: oldestKubernetes(version) ?? 'unknown',
    };
  } catch (error) {
    return { version, error: errorMessage(error) };
  }
}

function text({ version, digest, pinned, components = {}, oldestKubernetes: oldest, error }: Report): string {
  if (error !== undefined) return `${version}  ${error}\n`;
  const tags = Object.entries(components).map(([name, tag]) => `    ${name} ${tag}\n`);
  const images = pinned ? ', images pinned' : '';
  return `${version}  sha256 ${digest?.slice(0, 12)}, checksums verified${images}, Kubernetes ${oldest} and newer\n${tags.join('')}`;
}
