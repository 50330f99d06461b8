import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FILL } from './load.ts';

const run = promisify(execFile);
const folder = import.meta.dirname;

/**
 * Fills the compile cache of the bundle beside this file: prints the help of each command, which loads everything that
 * the command needs at its start. The Node.js that runs this must be the one that will run the commands. Equal code has
 * an equal cache.
 */
async function main(): Promise<void> {
  await mkdir(join(folder, 'compile-cache'), { recursive: true });
  const overview = await start('shoot-flux', '--help');
  for (const command of commandsIn(overview)) await start('shoot-flux', command, '--help');
  // Outside of a thread it has nothing to do.
  await start('functions-thread');
}

async function start(entry: string, ...args: string[]): Promise<string> {
  // V8's hashes of strings are part of the cache, so their seed must not differ.
  const command = ['--random-seed=1', join(folder, `${entry}.mjs`), ...args];
  const { stdout } = await run(process.execPath, command, { env: { ...process.env, [FILL]: 'yes' } });
  return stdout;
}

function commandsIn(overview: string): string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(overview) ?? [];
  return [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name = '']) => name);
}

void main();
