import { registry as registryCheck } from '../../shared/config/checks.ts';
import { installDefaults } from '../../shared/config/flux-options.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { exitCodes } from './command.ts';
import { tagOf } from './image-digests.ts';
import { type Terminal, UsageError } from './option.ts';
import { releasesOf } from './releases.ts';

/** What to list. */
interface ImagesOptions {
  dir: string;
  /** Absent: every release of the distribution. */
  version?: string | undefined;
  /** The prefix of the images; default that of Flux. */
  registry?: string | undefined;
  /** The prefix in the mirror. */
  to?: string | undefined;
  json: boolean;
}

/** An image of a release. */
interface Image {
  version: string;
  component: string;
  /** Its name with its digest, or with its tag if the digest is unknown. */
  source: string;
  digest?: string;
  /** Its name with its tag in the mirror. */
  target?: string;
}

/** Prints the images of the controllers: one on each line, or with `to` its name in the mirror behind it. */
export async function listImages({ dir, json, ...options }: ImagesOptions, terminal: Terminal): Promise<number> {
  for (const [name, prefix] of Object.entries({ registry: options.registry, to: options.to })) {
    const problem = prefix === undefined ? undefined : registryCheck(prefix);
    if (problem !== undefined) throw new UsageError(`--${name} ${problem}`);
  }
  const distribution = openDistribution(dir);
  const available = await releasesOf(distribution, dir);
  const versions = available.filter((name) => [undefined, name, name.slice(1)].includes(options.version));
  if (versions.length === 0) {
    throw new ShootFluxError(`${dir} holds no Flux ${options.version}; it holds ${available.join(', ')}.`);
  }
  const releases = await Promise.all(versions.map((version) => distribution.release(version)));
  const images = releases.flatMap((release) => imagesOf(release, options));
  terminal.out(json ? `${JSON.stringify(images, null, 2)}\n` : lines(images).join(''));
  return exitCodes.success;
}

function imagesOf(
  release: Release,
  { registry = installDefaults.registry, to }: Omit<ImagesOptions, 'dir' | 'json'>,
): Image[] {
  return componentsOf(release).flatMap((component) => {
    const tag = tagOf(release, component);
    if (tag === undefined) return [];
    const digest = release.imageDigests?.[component];
    const name = `${registry}/${component}`;
    return [
      {
        version: release.version,
        component,
        source: digest === undefined ? `${name}:${tag}` : `${name}@${digest}`,
        ...(digest !== undefined && { digest }),
        ...(to !== undefined && { target: `${to}/${component}:${tag}` }),
      },
    ];
  });
}

/** Releases share images. */
function lines(images: readonly Image[]): string[] {
  return [...new Set(images.map(({ source, target }) => `${source}${target === undefined ? '' : ` ${target}`}\n`))];
}
