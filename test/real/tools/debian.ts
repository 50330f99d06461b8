import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Programs that come from Debian packages of the same name. */
export type DebianProgram = 'buildah' | 'cmake' | 'gpg' | 'gpg-agent' | 'mmdebstrap';

/**
 * Installs the programs that are missing; that takes a minute, and needs root.
 * @throws Error that says what to install
 */
export async function installDebian(programs: readonly DebianProgram[]): Promise<void> {
  const missing: string[] = [];
  for (const program of programs) if (!(await exists(program))) missing.push(program);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) throw new Error(`Install the Debian packages ${missing.join(' and ')}.`);
  process.stderr.write(`installing ${missing.join(' and ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { env });
  await run('apt-get', ['install', '--yes', '--no-install-recommends', ...missing], { env, maxBuffer: 64_000_000 });
}

async function exists(program: string): Promise<boolean> {
  return run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
}
