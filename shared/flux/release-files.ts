import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, ShootFluxError } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { Release } from './release.ts';

/** Checksums of a release folder's YAML files, as `sha256sum` writes them; a folder need not have it. */
export const CHECKSUMS = 'SHA256SUMS';

/** A file of a release. */
export interface ReleaseFile {
  /** With `.yaml`. */
  name: string;
  text: string;
}

/** The YAML files of a release folder, by name; whatever else lies there is none of ours. */
export async function readReleaseFiles(folder: string): Promise<ReleaseFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
}

/**
 * Reads and checks one release folder.
 * @throws ShootFluxError when a file differs from the folder's checksums or holds something else than objects
 */
export async function readRelease(folder: string, version: string): Promise<Release> {
  const [files, sums] = await Promise.all([readReleaseFiles(folder), readChecksums(folder)]);
  const actual = checksumText(files);
  if (sums !== undefined && sums !== actual) throw changed(folder, sums, actual);
  const objects = await Promise.all(
    files.map(async (file) => [file.name.replace(/\.yaml$/, ''), await parseObjects(folder, file)] as const),
  );
  return { version, digest: sha256(actual), files: new Map(objects) };
}

async function readChecksums(folder: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, CHECKSUMS), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The content of `SHA256SUMS` for these files. */
export function checksumText(files: readonly ReleaseFile[]): string {
  return files.map(({ name, text }) => `${sha256(text)}  ${name}\n`).join('');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function changed(folder: string, expected: string, actual: string): ShootFluxError {
  const [before, after] = [expected, actual].map((text) => text.split('\n'));
  const different = [
    ...(before ?? []).filter((line) => !after?.includes(line)),
    ...(after ?? []).filter((line) => !before?.includes(line)),
  ];
  const names = new Set(different.map((line) => line.split('  ')[1]));
  return new ShootFluxError(
    `Flux release ${folder}: ${[...names].join(', ')} differs from ${CHECKSUMS}: ` +
      'restore the release, or make the folder again from files that you trust.',
  );
}

async function parseObjects(folder: string, file: ReleaseFile): Promise<KubeObject[]> {
  const documents = readPlainYaml(file.text) ?? (await readAnyYaml(folder, file));
  return documents
    .filter((document) => document !== null)
    .map((document) => {
      const { apiVersion, kind, metadata } = (document ?? {}) as Partial<KubeObject>;
      if (typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string') {
        return document as KubeObject;
      }
      throw unreadable(folder, file, 'a document is not a Kubernetes object');
    });
}

async function readAnyYaml(folder: string, file: ReleaseFile): Promise<unknown[]> {
  const { parseAllDocuments } = await import('yaml');
  return [...parseAllDocuments(file.text)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw unreadable(folder, file, errorMessage(error).split('\n')[0] ?? '');
    return document.toJS();
  });
}

function unreadable(folder: string, file: ReleaseFile, why: string): ShootFluxError {
  return new ShootFluxError(`Flux release ${folder}: ${file.name}: ${why}: take the file from the release again.`);
}
