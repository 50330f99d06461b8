import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShootFluxError } from '../../shared/errors.ts';
import type { Release } from '../gardener/registration/registration.ts';
import type { Builder } from '../image/builder.ts';
import { makeImage } from '../image/image.ts';
import { chartFiles, knativeFiles, lambdaPackages, registrations } from './files.ts';
import { writeChecksums, writeFiles } from './folder.ts';
import { checkVersion, notesOf } from './notes.ts';

/** How the image of a release is built. */
export interface ImageParts {
  builder: Builder;
  baseImage?: string | undefined;
  nodeImage?: string | undefined;
}

/** Name and place of a release. */
export interface ReleaseOptions extends Release {
  /** An empty or absent folder. */
  out: string;
  /** Becomes part of the image and of the Lambda packages; absent: they have none. */
  distribution?: string | undefined;
  /** Absent: everything but the image. */
  image?: ImageParts | undefined;
  epoch?: string | undefined;
}

const changelog = fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url));

/** Writes everything that a release consists of: the same checkout, distribution and bases give the same bytes. */
export async function makeRelease({ out, distribution, image, epoch, ...release }: ReleaseOptions): Promise<void> {
  const { version, registry } = release;
  checkVersion(version);
  const notes = notesOf(await readFile(changelog, 'utf8'), version);
  if (existsSync(join(out, 'charts')))
    throw new ShootFluxError(`${out} contains a release already; remove it, or choose another folder with --out.`);
  await mkdir(out, { recursive: true });
  await writeFiles(out, {
    'NOTES.md': notes,
    ...(await chartFiles(release)),
    ...(await registrations(release)),
    ...(await knativeFiles(release)),
    ...(await lambdaPackages(distribution)),
  });
  if (image !== undefined) {
    const tag = `${registry}/shoot-flux:${version}`;
    const written = { oci: join(out, 'image'), sbom: join(out, 'sbom.json') };
    await makeImage({
      ...image,
      tag,
      version,
      distribution,
      ...written,
      epoch,
    });
  }
  await writeChecksums(out);
}
