import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  if (existsSync(target)) return target;
  await mkdir(cacheFolder(), { recursive: true });
  const aside = await mkdtemp(`${target}.`);
  process.stderr.write(`${name}: installing; the first time this takes a minute or two\n`);
  try {
    await install(aside, file);
    // Another process may have been faster: both are the same.
    await rename(aside, target).catch((error) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}

/** Runs a program to its end, with more variables than this process has. @throws Error with the end of its output */
export async function runProgram(
  command: string,
  args: string[],
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...variables } });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-4000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null | string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed (${code}):\n${output}`);
}
