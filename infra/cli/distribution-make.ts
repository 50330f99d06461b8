import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { errorMessage, fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import {
  CHECKSUMS,
  checksumText,
  RELEASE_JSON,
  type ReleaseFile,
  readRelease,
  readReleaseFiles,
  releaseJson,
} from '../../shared/flux/release-files.ts';
import { parseVersion } from '../../shared/flux/versions.ts';
import { exitCodes, type Terminal, UsageError } from './command.ts';
import { checkComplete } from './releases.ts';
import { tarFiles } from './tar.ts';

/** Adds a release to a distribution folder, completely or not at all. */
export async function makeRelease(
  { dir, from, version }: { dir: string; from: string; version: string },
  terminal: Terminal,
): Promise<number> {
  if (parseVersion(version) === undefined) throw new UsageError(`"${version}" is not a version such as v2.9.4`);
  const name = version.startsWith('v') ? version : `v${version}`;
  const files = await releaseFiles(from);
  const draft = await newDraft(dir);
  try {
    const all = [...files, await releaseJson(from, files)];
    for (const file of all) await writeFile(join(draft, file.name), file.text);
    await writeFile(join(draft, CHECKSUMS), checksumText(all));
    const release = await readRelease(draft, name);
    checkComplete(release, from);
    // A draft is private, a release readable for all.
    await chmod(draft, 0o755);
    const placed = await place(draft, join(dir, name), release);
    const result = placed ? 'created' : await existingResult(join(dir, name));
    terminal.err(`${join(dir, name)}: ${result} with ${componentsOf(release).join(', ')}\n`);
    return exitCodes.success;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function newDraft(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true });
    return await mkdtemp(join(dir, '.draft-'));
  } catch (error) {
    throw new ShootFluxError(`cannot write to ${dir}: ${errorMessage(error)}; choose a writable folder.`);
  }
}

async function releaseFiles(from: string): Promise<ReleaseFile[]> {
  try {
    if ((await stat(from)).isDirectory()) return await readReleaseFiles(from);
    const files = [...tarFiles(gunzipSync(await readFile(from)))];
    return files
      .map(({ name, content }) => ({ name: basename(name), text: content.toString('utf8') }))
      .filter(({ name }) => name.endsWith('.yaml'))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    throw new ShootFluxError(`cannot read ${from}: ${fileProblem(error)}; pass manifests.tar.gz or a folder.`);
  }
}

/** A folder that another tool or an earlier version made works too, but each process has to parse its YAML. */
async function existingResult(folder: string): Promise<string> {
  if ((await readdir(folder)).includes(RELEASE_JSON)) return 'already exists';
  return `already exists without ${RELEASE_JSON} (delete the folder and repeat this command for a faster start)`;
}

/** @returns false when the same release already exists */
async function place(draft: string, folder: string, release: Release): Promise<boolean> {
  try {
    await rename(draft, folder);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    const present = await readRelease(folder, release.version);
    if (present.digest === release.digest) return false;
    throw new ShootFluxError(
      `${folder} holds different files for ${release.version}; delete the folder and repeat the command.`,
    );
  }
}
