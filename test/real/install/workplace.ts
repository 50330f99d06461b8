import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';

/** A checkout in an empty folder, in which a test runs commands. */
export type Workplace = Awaited<ReturnType<typeof makeWorkplace>>;

export interface WorkplaceOptions {
  /** What the commands see, besides PATH and HOME. Default: nothing. */
  environment?: Record<string, string>;
  /** Folders with programs. */
  path?: string[];
  /** Folder with the manifests of a Flux release, which becomes `manifests.tar.gz`. */
  release?: string | undefined;
}

/** What a clone does not have. */
const notCloned = ['.git', '.test-data', 'dist', 'node_modules'];

/** Makes a folder like a clone of this repository, in which `npm ci` finds everything installed. */
export async function makeWorkplace({ environment, path = [], release }: WorkplaceOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'shoot-flux-workplace-'));
  const names = (await readdir(root)).filter((name) => !notCloned.includes(name));
  for (const name of names) await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  if (release !== undefined) await runProgram('tar', ['-czf', 'manifests.tar.gz', '-C', release, '.'], folder);
  await mkdir(join(folder, 'bin'));
  /** Makes a program of the folder's own: a script for sh. */
  const addProgram = (name: string, script: string) =>
    writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const { kubectl } = await buildTools(['kubectl']);
  // No controller of namespaces runs.
  await addProgram('kubectl', `case " $* " in *" delete "*) set -- "$@" --wait=false ;; esac\nexec ${kubectl} "$@"`);
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  await addProgram('npm', `[ "$*" = ci ] || exec ${npm} "$@"`);
  const env = {
    PATH: [join(folder, 'bin'), ...path, join(root, 'node_modules/.bin'), process.env.PATH].join(':'),
    HOME: folder,
    ...environment,
  };
  return {
    folder,
    addProgram,
    /** Runs the lines of a block, and returns their output. @throws Error with the output when one fails */
    async run(block: string) {
      const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', block], {
        ...{ cwd: folder, env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      const collect = (chunk: Buffer) => {
        output += chunk;
      };
      child.stdout.on('data', collect);
      child.stderr.on('data', collect);
      const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
      if (code !== 0) throw new Error(`${block} failed (${code}):\n${output.slice(-6000)}`);
      return output;
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
