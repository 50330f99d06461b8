import { runProgram } from './cache.ts';

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
  const quietly = { DEBIAN_FRONTEND: 'noninteractive' };
  await runProgram('apt-get', ['update'], undefined, quietly);
  await runProgram('apt-get', ['install', '--yes', '--no-install-recommends', ...missing], undefined, quietly);
}

async function exists(program: string): Promise<boolean> {
  return runProgram('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
}
