import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../tools/cache.ts';
import { installDebian } from '../tools/debian.ts';

/** A key of PGP, in a keyring of its own. */
export interface PgpKey extends AsyncDisposable {
  /** Armored. */
  privateKey: string;
  fingerprint: string;
  /** The variables with which programs find the keyring. */
  env: Record<string, string>;
}

/** Runs the commands of a page that make a key, and write it into a file. */
export async function pgpKey(commands: readonly string[], file: string): Promise<PgpKey> {
  await installDebian(['gpg', 'gpg-agent']);
  const home = await mkdtemp(join(tmpdir(), 'pgp-'));
  await chmod(home, 0o700);
  const env = { GNUPGHOME: home };
  for (const command of commands) await runProgram('sh', ['-c', command], home, env);
  const listed = await runProgram('gpg', ['--with-colons', '--list-keys'], home, env);
  return {
    privateKey: await readFile(join(home, file), 'utf8'),
    fingerprint: /^fpr:+(\w+):/m.exec(listed)?.[1] ?? '',
    env,
    async [Symbol.asyncDispose]() {
      await runProgram('gpgconf', ['--homedir', home, '--kill', 'all']);
      await rm(home, { recursive: true, force: true });
    },
  };
}
