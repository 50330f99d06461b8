import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../../integration/documents.ts';
import { runProgram } from '../../tools/cache.ts';

/** A checkout after `npm ci`, with one Flux release, in which a test runs commands. */
export interface Workplace {
  folder: string;
  /** Runs the lines of a block, and returns their output. @throws Error with the output when one fails */
  run(block: string): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Makes a folder like a checkout of this repository after `npm ci`.
 * @param environment what the commands see, besides PATH and HOME
 * @param bin a folder with AWS's command line
 * @param release a folder with the manifests of a Flux release
 */
export async function makeWorkplace(
  environment: Record<string, string>,
  bin: string,
  release: string,
): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), 'shoot-flux-workplace-'));
  for (const name of ['events', 'functions', 'infra', 'shared', 'package.json', 'serverless.yml']) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await runProgram('tar', ['-czf', 'manifests.tar.gz', '-C', release, '.'], folder);
  await mkdir(join(folder, 'bin'));
  const kubectl = `#!/bin/sh\nexec ${process.execPath} ${join(import.meta.dirname, '../kubectl.ts')} "$@"\n`;
  await writeFile(join(folder, 'bin/kubectl'), kubectl, { mode: 0o755 });
  const env = {
    PATH: [join(folder, 'bin'), bin, join(root, 'node_modules/.bin'), process.env.PATH].join(':'),
    HOME: folder,
    SLS_TELEMETRY_DISABLED: '1',
    SLS_NOTIFICATIONS_MODE: 'off',
    ...environment,
  };
  return {
    folder,
    async run(block) {
      const child = spawn('sh', ['-ec', block], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
