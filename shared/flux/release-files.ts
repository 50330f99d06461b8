import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { errorMessage, ShootFluxError } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { ImageDigests, Release } from './release.ts';

/** Checksums of a release folder's files, as `sha256sum` writes them. */
export const CHECKSUMS = 'SHA256SUMS';

/** The parsed objects of the YAML files beside it. Optional: without it the YAML is parsed, once in each process. */
export const RELEASE_JSON = 'release.json';

/** The digests of the images, if `distribution make` has pinned them. */
export const IMAGE_DIGESTS = 'image-digests.json';

/** A file of a release. */
export interface ReleaseFile {
  /** Including the extension, for example `rbac.yaml`. */
  name: string;
  text: string;
}

type Objects = Record<string, KubeObject[]>;

interface ReleaseJson {
  /** Digest of the YAML files that the objects were parsed from. */
  digest: string;
  /** File name without `.yaml` -> its objects. */
  files: Objects;
}

/** Returns the YAML files of a release folder, sorted by name; other files are ignored. */
export async function readReleaseFiles(folder: string): Promise<ReleaseFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
}

/**
 * Reads and verifies one release folder. Parsing the YAML of a release takes 120 ms, its `release.json` 1 ms
 * (decision 11).
 * @throws ShootFluxError when the folder has no checksums, a file differs from them, or a document is not a Kubernetes
 * object
 */
export async function readRelease(folder: string, version: string): Promise<Release> {
  const [files, sums, json, images] = await Promise.all([
    readReleaseFiles(folder),
    readOptional(join(folder, CHECKSUMS)),
    readOptional(join(folder, RELEASE_JSON)),
    readOptional(join(folder, IMAGE_DIGESTS)),
  ]);
  if (sums === undefined) {
    throw new ShootFluxError(
      `Flux release ${folder} has no ${CHECKSUMS}, so its files cannot be verified; delete the folder and run "distribution make" with the files of the release.`,
    );
  }
  const pinned = images === undefined ? [] : [{ name: IMAGE_DIGESTS, text: images }];
  const all = [...files, ...(json === undefined ? [] : [{ name: RELEASE_JSON, text: json }]), ...pinned];
  if (sums !== checksumText(all)) throw changed(folder, sums, checksumText(all));
  const objects = parseReleaseJson(folder, json, digestOf(files)) ?? (await parseYaml(folder, files));
  const release = { version, digest: digestOf([...files, ...pinned]), files: new Map(Object.entries(objects)) };
  const remedy = 'delete the folder and run "distribution make" again';
  return images === undefined
    ? release
    : { ...release, imageDigests: parseJson<ImageDigests>(folder, IMAGE_DIGESTS, images, remedy) };
}

/** Returns the file that pins images. */
export function imageDigestsFile(digests: ImageDigests): ReleaseFile {
  return { name: IMAGE_DIGESTS, text: `${JSON.stringify(digests, null, 2)}\n` };
}

/**
 * Parses the YAML files of a release for its `release.json`.
 * @param folder names the release in errors
 */
export async function releaseJson(folder: string, files: readonly ReleaseFile[]): Promise<ReleaseFile> {
  const content: ReleaseJson = { digest: digestOf(files), files: await parseYaml(folder, files) };
  return { name: RELEASE_JSON, text: JSON.stringify(content) };
}

/** Returns the content of `SHA256SUMS` for these files. */
export function checksumText(files: readonly ReleaseFile[]): string {
  return files.map(({ name, text }) => `${hash('sha256', text)}  ${name}\n`).join('');
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The digest covers the YAML alone: it stays the same whether or not a `release.json` was made. */
function digestOf(files: readonly ReleaseFile[]): string {
  return hash('sha256', checksumText(files));
}

function changed(folder: string, expected: string, actual: string): ShootFluxError {
  const [before, after] = [expected.split('\n'), actual.split('\n')];
  const lost = before.filter((line) => !after.includes(line));
  const added = after.filter((line) => !before.includes(line));
  const names = [...new Set([...lost, ...added].map((line) => line.split('  ')[1]))];
  const verb = names.length === 1 ? 'differs' : 'differ';
  return new ShootFluxError(
    `Flux release ${folder}: ${names.join(', ')} ${verb} from ${CHECKSUMS}; ` +
      'restore the release, or delete the folder and run "distribution make" again.',
  );
}

/** Returns undefined when the YAML files were changed after their `release.json` was made, or there is none. */
function parseReleaseJson(folder: string, json: string | undefined, digest: string): Objects | undefined {
  if (json === undefined) return undefined;
  const remedy = 'delete it, or run "distribution make" again';
  const content = parseJson<ReleaseJson | null>(folder, RELEASE_JSON, json, remedy);
  return content?.digest === digest ? content.files : undefined;
}

function parseJson<T>(folder: string, name: string, text: string, remedy: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw unreadable(folder, name, errorMessage(error), remedy);
  }
}

async function parseYaml(folder: string, files: readonly ReleaseFile[]): Promise<Objects> {
  const parse = ({ name, text }: ReleaseFile): [string, KubeObject[]] => {
    const objects = valuesIn(folder, name, text).filter((document) => document !== null);
    if (!objects.every(isKubeObject)) throw unreadable(folder, name, 'a document is not a Kubernetes object');
    return [name.replace(/\.yaml$/, ''), objects];
  };
  return Object.fromEntries(files.map(parse));
}

function valuesIn(folder: string, name: string, text: string): unknown[] {
  try {
    return [...parseAllDocuments(text)].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      // Aliases that refer to aliases may stand for more values than fit into memory; the parser refuses them.
      return document.toJS();
    });
  } catch (error) {
    throw unreadable(folder, name, errorMessage(error).split('\n')[0]?.replace(/:$/, '') ?? '');
  }
}

function isKubeObject(document: unknown): document is KubeObject {
  const { apiVersion, kind, metadata } = (document ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}

function unreadable(folder: string, file: string, reason: string, remedy = 'copy the file from the release again') {
  return new ShootFluxError(`Flux release ${folder}: ${file}: ${reason}; ${remedy}.`);
}
