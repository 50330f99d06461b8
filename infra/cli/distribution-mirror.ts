import { ShootFluxError } from '../../shared/errors.ts';
import { runProgram } from '../make-command.ts';
import { lastLine } from './archive.ts';
import { exitCodes } from './command.ts';
import { checkPrefix, imagesIn, type imagesOptions } from './distribution-inspect.ts';
import { list, missing, type Option, type Terminal, type Values } from './option.ts';

export const mirrorOptions = {
  release: list('VERSION', 'mirror: only the images of this release. Repeatable.'),
  'plain-http': { type: 'boolean', description: 'mirror, push: the registry speaks HTTP.' },
} as const satisfies Record<string, Option>;

/**
 * Copies the images of releases into a registry by their digests, with crane. What is there already is not copied again.
 * Prints the names in the registry with their digests once all are there.
 */
export async function mirrorImages(
  dir: string,
  values: Values<typeof mirrorOptions & typeof imagesOptions>,
  terminal: Terminal,
): Promise<number> {
  const { registry, to, release: versions = [], 'plain-http': isPlain = false } = values;
  if (to === undefined) missing('--to PREFIX');
  checkPrefix('registry', registry);
  checkPrefix('to', to);
  const images = await imagesIn(dir, versions, { registry, to });
  // Without it, nothing could be said about any image.
  await runProgram('crane', ['version']);
  const insecure = isPlain ? ['--insecure'] : [];
  const mirrored = new Set<string>();
  for (const { source, target = '', digest: pinned } of images) {
    // Only the registry may speak HTTP: the digest of a tag comes over HTTPS.
    const digest = pinned ?? (await digestOf(source));
    const name = `${target}@${digest}`;
    // Releases share images.
    if (mirrored.has(name)) continue;
    // Registries answer in different ways for what they lack; if there is more behind it, the copy fails, too.
    const present = await digestOf(target, insecure).catch(() => undefined);
    if (present !== digest) {
      await crane('copy', [source.includes('@') ? source : `${source}@${digest}`, target], insecure);
      await expectDigest(target, digest, insecure);
    }
    terminal.err(`${name}: ${present === digest ? 'is there already' : 'copied'}\n`);
    mirrored.add(name);
  }
  terminal.out([...mirrored].map((name) => `${name}\n`).join(''));
  return exitCodes.success;
}

async function digestOf(image: string, flags: string[] = []): Promise<string> {
  return (await crane('digest', [image], flags)).trim();
}

async function expectDigest(target: string, expected: string, flags: string[]): Promise<void> {
  const digest = await digestOf(target, flags);
  if (digest === expected) return;
  throw new ShootFluxError(
    `${target} has the digest ${digest} instead of ${expected}; name a registry that stores images unchanged and lets nothing else write this name.`,
  );
}

async function crane(command: 'copy' | 'digest', images: string[], flags: string[]): Promise<string> {
  try {
    return (await runProgram('crane', [...flags, command, ...images])).stdout;
  } catch (error) {
    const what = command === 'copy' ? `cannot copy ${images.join(' to ')}` : `cannot read the digest of ${images[0]}`;
    throw new ShootFluxError(
      `${what}: ${lastLine(error)}; check that both registries answer here and that "crane auth login" was run, and repeat the command.`,
    );
  }
}
