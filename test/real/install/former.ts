import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { root } from '../../integration/documents.ts';

/** The commands of a version that was released before. */
export interface FormerVersion extends AsyncDisposable {
  version: string;
  /** The file to start, like `infra/cli/shoot-flux.js`. */
  entry: string;
}

const folder = join(root, 'test/former');

/** Lists the versions whose commands are kept in `test/former`: the last one of each minor version that must still work. */
export async function formerVersions(): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Unpacks the commands of a former version. */
export async function unpackFormer(version: string): Promise<FormerVersion> {
  const target = await mkdtemp(join(tmpdir(), `shoot-flux-${version}-`));
  const entry = join(target, 'main.cjs');
  await writeFile(entry, brotliDecompressSync(await readFile(join(folder, version, 'main.cjs.br'))));
  return { version, entry, [Symbol.asyncDispose]: () => rm(target, { recursive: true }) };
}
