import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git } from './repositories.ts';

/** False where OpenSSH is not installed. */
export const hasSsh = spawnSync('ssh', ['-V']).error === undefined;

/** Creates a user of the real git, without the configuration of this machine. */
export function createGitUser() {
  const folder = mkdtempSync(join(tmpdir(), 'clones-'));
  let clones = 0;

  return {
    /** A folder for files; it is deleted in the end. */
    folder,
    /** Clones with OpenSSH; resolves with the README, or with git's error. @param privateKey as OpenSSH writes it */
    cloneOverSsh(url: string, privateKey: string, knownHosts: string) {
      const name = join(folder, `identity-${clones}`);
      writeFileSync(name, privateKey, { mode: 0o600 });
      writeFileSync(`${name}.known_hosts`, `${knownHosts}\n`);
      const options = `-F none -i ${name} -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=${name}.known_hosts`;
      const target = join(folder, `clone-${clones++}`);
      const env = { GIT_SSH_COMMAND: `ssh ${options}` };
      return git(['clone', '--quiet', url, target], { env }).then(
        () => readFileSync(join(target, 'README.md'), 'utf8'),
        (error: Error) => error.message,
      );
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
