import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, mkdtempDisposable, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './tool.ts';

/** Something that a package manager installs into a folder of the cache. */
export interface Installed {
  /** Also the name of the folder with its list of versions. */
  name: string;
  /** The file with the pinned versions, in the folder of this name. */
  versions: string;
  /** Installs into an empty folder, which is moved afterwards. */
  install(folder: string, versions: string): Promise<void>;
}

/** Returns the folder into which a set of pinned versions is installed, once for each machine. */
export async function installed({ name, versions, install }: Installed): Promise<string> {
  const file = join(import.meta.dirname, name, versions);
  const hash = createHash('sha256')
    .update(`${process.platform}/${process.arch}\n`)
    .update(await readFile(file));
  const target = join(cacheFolder(), `${name}-${hash.digest('hex').slice(0, 12)}`);
  await fillOnce(target, (folder) => install(folder, file));
  return target;
}

/**
 * Makes a folder of the cache unless it is there. It is filled aside and renamed, so that no process sees an incomplete
 * one, and two that make it at the same time are harmless.
 */
export async function fillOnce(target: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const aside = await mkdtemp(`${target}.`);
  const started = performance.now();
  process.stderr.write(`${basename(target)}: made once for this machine; that can take some minutes\n`);
  try {
    await fill(aside);
    // Another process may have been faster: both are the same.
    await rename(aside, target).catch((error) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  process.stderr.write(`${basename(target)}: made in ${Math.round((performance.now() - started) / 1000)} s\n`);
}

/**
 * Runs a program to its end, with more variables than this process has, and returns what it prints.
 * @throws Error with the end of its output
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  cwd?: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
    const output = `${error.stdout}${error.stderr}`.slice(-4000);
    throw new Error(`${command} ${args.join(' ')} failed (${error.code}):\n${output}`, { cause: error });
  });
  return stdout;
}

/** Writes files into a temporary folder, which is deleted when it is disposed. */
export async function folderWith(files: Record<string, string>): Promise<AsyncDisposable & { path: string }> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-files-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  return { path: folder.path, [Symbol.asyncDispose]: () => folder.remove() };
}
