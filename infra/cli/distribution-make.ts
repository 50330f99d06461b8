import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { quote } from '../../shared/config/quote.ts';
import { errorMessage, fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import {
  CHECKSUMS,
  checksumText,
  imageDigestsFile,
  RELEASE_JSON,
  type ReleaseFile,
  readRelease,
  readReleaseFiles,
  releaseJson,
} from '../../shared/flux/release-files.ts';
import { readArchive, unpack, type Verification, verifies, verifyArchive } from './archive.ts';
import { exitCodes } from './command.ts';
import { checkComplete } from './distribution-inspect.ts';
import { isUrl } from './from-release.ts';
import { digestsFor, type pinnedImages } from './image-digests.ts';
import { type Terminal, UsageError } from './option.ts';

interface MakeOptions {
  dir: string;
  from: string;
  version: string;
  verification?: Verification;
  images?: Awaited<ReturnType<typeof pinnedImages>>;
}

/** Adds a release to a distribution folder, completely or not at all. */
export async function makeRelease(
  { dir, from, version, verification = {}, images }: MakeOptions,
  terminal: Terminal,
): Promise<number> {
  if (semver.valid(version) === null) throw new UsageError(`"${version}" is not a version such as v2.9.4`);
  const name = version.startsWith('v') ? version : `v${version}`;
  const files = await releaseFiles(from, name, verification);
  checkNames(files, from);
  const draft = await newDraft(dir);
  try {
    const release = await writeDraft(draft, name, from, files, images);
    // A draft is private, a release readable for all.
    await chmod(draft, 0o755);
    const placed = await place(draft, join(dir, name), release);
    const created = `${verifies(verification) ? 'verified and ' : ''}created${images ? ' with pinned images' : ''}`;
    terminal.err(
      `${join(dir, name)}: ${placed === 'created' ? created : placed} with ${componentsOf(release).join(', ')}\n`,
    );
    return exitCodes.success;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The names become lines of the checksums and names of components, which commands print. */
const NAME = /^[a-z0-9][a-z0-9._-]*\.yaml$/i;

function checkNames(files: ReleaseFile[], from: string): void {
  const odd = files.find(({ name }) => !NAME.test(name));
  if (odd === undefined) return;
  throw new ShootFluxError(
    `${from} has a file with the name ${quote(odd.name)}, which no Flux release has; pass the files of the release, and no others.`,
  );
}

/** Writes all files of a release, and reads them once as every process will. */
async function writeDraft(
  draft: string,
  name: string,
  from: string,
  files: ReleaseFile[],
  images: MakeOptions['images'],
): Promise<Release> {
  const write = async (all: ReleaseFile[]): Promise<Release> => {
    for (const file of all) await writeFile(join(draft, file.name), file.text);
    await writeFile(join(draft, CHECKSUMS), checksumText(all));
    return readRelease(draft, name);
  };
  const all = [...files, await releaseJson(from, files)];
  const release = await write(all);
  checkComplete(release, from);
  return images === undefined ? release : write([...all, imageDigestsFile(digestsFor(release, images))]);
}

async function newDraft(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true });
    return await mkdtemp(join(dir, '.draft-'));
  } catch (error) {
    throw new ShootFluxError(`cannot write to ${dir}: ${errorMessage(error)}; choose a writable folder.`);
  }
}

async function releaseFiles(from: string, version: string, verification: Verification): Promise<ReleaseFile[]> {
  try {
    if (!isUrl(from) && (await stat(from)).isDirectory()) {
      if (verifies(verification)) throw new UsageError('--sha256 and --checksums require an archive as --from');
      return await readReleaseFiles(from);
    }
    const archive = await readArchive(from);
    await verifyArchive(from, archive, version, verification);
    return await unpack(archive);
  } catch (error) {
    if (error instanceof UsageError || error instanceof ShootFluxError) throw error;
    throw new ShootFluxError(`cannot read ${from}: ${fileProblem(error)}; pass manifests.tar.gz or a folder.`);
  }
}

/**
 * Moves a draft to its place. A folder with the plain files of the same release is replaced by it.
 * @returns what happened, for the terminal
 */
async function place(draft: string, folder: string, release: Release): Promise<string> {
  try {
    await rename(draft, folder);
    return 'created';
  } catch (error) {
    // A link to a folder cannot be replaced, either.
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ShootFluxError(
        `cannot create the folder ${folder} (${code}); remove what is in its place, and repeat the command.`,
      );
    }
  }
  const different = new ShootFluxError(
    `${folder} holds different files for ${release.version}; delete the folder and repeat the command.`,
  );
  const names = await readdir(folder);
  if (names.includes(CHECKSUMS) && names.includes(RELEASE_JSON)) {
    const present = await readRelease(folder, release.version);
    if (present.digest !== release.digest) throw different;
    return 'already exists';
  }
  const [present, made] = await Promise.all(
    [folder, draft].map(async (one) => checksumText(await readReleaseFiles(one))),
  );
  if (present !== made) throw different;
  const former = `${draft}-former`;
  await rename(folder, former);
  await rename(draft, folder);
  await rm(former, { recursive: true, force: true });
  return `completed with ${CHECKSUMS} and ${RELEASE_JSON},`;
}
