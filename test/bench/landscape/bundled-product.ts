import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleCli } from '../../../infra/bundle-cli.ts';

let made: Promise<string> | undefined;

/** Returns the entry of the bundle with its compile cache, as in the image. It is made once and removed at the end. */
export function bundledProduct(): Promise<string> {
  made ??= make();
  return made;
}

async function make(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-cli-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundleCli(folder);
  await promisify(execFile)(process.execPath, [join(folder, 'fill-compile-cache.cjs')]);
  return join(folder, 'shoot-flux.mjs');
}
