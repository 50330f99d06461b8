import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { BuildResult, Metafile } from 'esbuild';

/** What CommonJS packages expect around them. */
export const COMMON_JS =
  "import{createRequire}from'node:module';const require=createRequire(import.meta.url),__dirname=import.meta.dirname;";

/**
 * Writes the files of a bundle, each with this beginning only where it is used: a bundle has dozens of chunks.
 * @returns the metafile with the sizes as written
 */
export async function writeBundle(
  { outputFiles, metafile }: BuildResult<{ write: false; metafile: true }>,
  root: string,
): Promise<Metafile> {
  const outputs = { ...metafile.outputs };
  for (const { path, text } of outputFiles) {
    const code = withoutIdleBeginning(text);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
    const name = relative(root, path);
    const output = outputs[name];
    if (output !== undefined) outputs[name] = { ...output, bytes: Buffer.byteLength(code) };
  }
  return { ...metafile, outputs };
}

function withoutIdleBeginning(text: string): string {
  const code = text.startsWith(COMMON_JS) ? text.slice(COMMON_JS.length).trimStart() : text;
  return /\b(require|__dirname)\b/.test(code) ? text : code;
}
