import { join } from 'node:path';
import { registry as registryCheck } from '../../shared/config/checks.ts';
import { installDefaults } from '../../shared/config/flux-options.ts';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { distributionAt, openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Distribution, Release } from '../../shared/flux/release.ts';
import { oldestKubernetes } from '../../shared/flux/support.ts';
import { exitCodes } from './command.ts';
import { tagOf } from './image-digests.ts';
import { type Option, type Terminal, text, UsageError, type Values } from './option.ts';

type Report = Awaited<ReturnType<typeof inspectRelease>>;

/** Prints what a distribution holds. Fails when a release is broken or there is none. */
export async function inspectDistribution(dir: string, json: boolean, terminal: Terminal): Promise<number> {
  const distribution = openDistribution(dir);
  const versions = await distribution.versions();
  const reports = await Promise.all(versions.map((version) => inspectRelease(distribution, dir, version)));
  terminal.out(json ? `${JSON.stringify(reports, null, 2)}\n` : reports.map(reportText).join(''));
  if (versions.length === 0) terminal.err(`${dir} holds no Flux release; add one with "distribution make".\n`);
  return versions.length === 0 || reports.some((report) => 'error' in report) ? exitCodes.failure : exitCodes.success;
}

async function inspectRelease(distribution: Distribution, dir: string, version: string) {
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

function reportText(report: Report): string {
  if ('error' in report) return `${report.version}  ${report.error}\n`;
  const { version, digest, pinned, components, oldestKubernetes: oldest } = report;
  const tags = Object.entries(components).map(([name, tag]) => `    ${name} ${tag}\n`);
  const images = pinned ? ', images pinned' : '';
  return `${version}  sha256 ${digest.slice(0, 12)}, checksums verified${images}, Kubernetes ${oldest} and newer\n${tags.join('')}`;
}

/** Options of `distribution images`. */
export const imagesOptions = {
  registry: text('PREFIX', 'images, mirror: the prefix to copy from.', { default: installDefaults.registry }),
  to: text(
    'PREFIX',
    'images: the prefix in a mirror; each line then has two names. mirror: the prefix to copy to (required). push: oci://REGISTRY/REPOSITORY:TAG (required).',
  ),
} as const satisfies Record<string, Option>;

/** @throws UsageError for a value that is no prefix of images */
export function checkPrefix(option: string, prefix: string | undefined): void {
  const problem = prefix === undefined ? undefined : registryCheck(prefix);
  if (problem !== undefined) throw new UsageError(`--${option} ${problem}`);
}

/** Prints the images of the controllers: one on each line, or with `to` its name in the mirror behind it. */
export async function listImages(
  dir: string,
  { version, json = false, registry, to }: Values<typeof imagesOptions> & { version?: string; json?: boolean },
  terminal: Terminal,
): Promise<number> {
  checkPrefix('registry', registry);
  checkPrefix('to', to);
  const images = await imagesIn(dir, version === undefined ? [] : [version], { registry, to });
  // Releases share images.
  const lines = new Set(images.map(({ source, target }) => `${source}${target === undefined ? '' : ` ${target}`}\n`));
  terminal.out(json ? `${JSON.stringify(images, null, 2)}\n` : [...lines].join(''));
  return exitCodes.success;
}

/** The prefix to copy from, and the one in a mirror. */
interface Prefixes {
  registry?: string | undefined;
  to?: string | undefined;
}

/**
 * Returns the images of the controllers of these releases, of all without any.
 * @throws ShootFluxError when the distribution lacks one
 */
export async function imagesIn(dir: string, wanted: string[], prefixes: Prefixes) {
  const distribution = openDistribution(dir);
  const available = await releasesOf(distribution, dir);
  const names = wanted.map((version) => `v${version.replace(/^v/, '')}`);
  const absent = names.find((name) => !available.includes(name));
  if (absent !== undefined) {
    throw new ShootFluxError(`${dir} holds no Flux ${absent}; it holds ${available.join(', ')}.`);
  }
  const versions = available.filter((name) => names.length === 0 || names.includes(name));
  const releases = await Promise.all(versions.map((version) => distribution.release(version)));
  return releases.flatMap((release) => imagesOf(release, prefixes));
}

/** Returns the images with their digests, or with their tags if these are unknown; `target` is the name in the mirror. */
function imagesOf(release: Release, { registry = installDefaults.registry, to }: Prefixes) {
  return componentsOf(release).flatMap((component) => {
    const tag = tagOf(release, component);
    if (tag === undefined) return [];
    const digest = release.imageDigests?.[component];
    const source = `${registry}/${component}${digest === undefined ? `:${tag}` : `@${digest}`}`;
    const target = to === undefined ? undefined : `${to}/${component}:${tag}`;
    return [{ version: release.version, component, source, digest, target }];
  });
}

/**
 * Returns the Flux releases of a distribution, newest first.
 * @throws ShootFluxError when there is none, because then no configuration can work
 */
export async function releasesOf(distribution: Distribution, dir: string): Promise<string[]> {
  const releases = await distribution.versions();
  if (releases.length > 0) return releases;
  throw new ShootFluxError(`${dir} holds no Flux release; add one with "distribution make".`);
}

/** Returns the releases of a folder once each could be read and is complete: a broken one fails at start. */
export async function usableReleases(dir: string): Promise<string[]> {
  const releases = await releasesOf(distributionAt(dir), dir);
  // One at a time: together they would take 20 MB that the process never gives back.
  for (const version of releases) checkComplete(await openDistribution(dir).release(version), join(dir, version));
  return releases;
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
