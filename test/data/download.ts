import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { tarFiles } from '../../infra/cli/archive.ts';
import { download } from '../../infra/cli/download.ts';
import { errorMessage } from '../../shared/errors.ts';

/** Addresses to download from; a test passes those of a local server. */
export interface Sources {
  github: string;
  githubContent: string;
}

export const gitHub: Sources = {
  github: 'https://github.com',
  githubContent: 'https://raw.githubusercontent.com',
};

/** The commit of gardener/gardener that the pinned CRDs come from, v1.150.0-dev. */
const GARDENER_COMMIT = 'b312835d17';

/** Of one file; the largest has 200 KB. */
const MOST_MIB = 16;

/** SHA-256 by path below the data folder, such as `flux/v2.9.4/rbac.yaml`. */
export type Checksums = ReadonlyMap<string, string>;

/** Parses lines of `sha256sum`. */
export function parseChecksums(text: string): Checksums {
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [sum = '', path = ''] = line.split('  ');
        return [path, sum];
      }),
  );
}

/**
 * Downloads the pinned files into the folder. Each folder below it, such as `flux/v2.9.4`, appears complete or not at
 * all, and a folder that exists is kept.
 * @returns the folders that were downloaded
 * @throws Error when a download fails, or a file is missing or differs from its checksum
 */
export async function downloadTestData(
  folder: string,
  checksums: Checksums,
  { sources = gitHub, exists }: { sources?: Sources; exists: (path: string) => boolean },
): Promise<string[]> {
  const wanted = [...Map.groupBy(checksums.keys(), (path) => dirname(path))].filter(
    ([part]) => !exists(join(folder, part)),
  );
  for (const [part, paths] of wanted) {
    const files = part.startsWith('flux/') ? await fetchRelease(sources, part) : await fetchCrds(sources, paths);
    for (const path of paths) verify(path, files.get(path), checksums.get(path));
    await place(join(folder, part), paths, files);
  }
  return wanted.map(([part]) => part);
}

async function fetchRelease({ github }: Sources, part: string): Promise<Map<string, Buffer>> {
  const version = part.replace(/^flux\//, '');
  const archive = await fetchBytes(`${github}/fluxcd/flux2/releases/download/${version}/manifests.tar.gz`);
  const files = await tarFiles(gunzipSync(archive));
  return new Map(files.map(({ name, content }) => [join(part, name), content]));
}

async function fetchCrds({ githubContent }: Sources, paths: string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    const name = path.replace(/^gardener\//, '');
    const url = `${githubContent}/gardener/gardener/${GARDENER_COMMIT}/example/seed-crds/${name}`;
    files.set(path, await fetchBytes(url));
  }
  return files;
}

async function fetchBytes(url: string): Promise<Buffer> {
  return download(url, MOST_MIB).catch((error: unknown) => {
    throw new Error(`${url}: cannot be downloaded (${errorMessage(error)}).`);
  });
}

function verify(path: string, content: Buffer | undefined, expected: string | undefined): void {
  if (content === undefined) throw new Error(`${path}: is missing in the download.`);
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${path}: has checksum ${actual} instead of the pinned ${expected}.`);
}

async function place(target: string, paths: string[], files: ReadonlyMap<string, Buffer>): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(join(dirname(target), '.download-'));
  try {
    for (const path of paths) {
      await writeFile(join(draft, path.slice(dirname(path).length + 1)), files.get(path) ?? '');
    }
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
