import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A user of the real git, without the configuration of this machine. */
export interface GitUser extends Disposable {
  /** A folder for files; it is deleted in the end. */
  folder: string;
  /** Resolves with the output of git. */
  git(args: string[], env?: NodeJS.ProcessEnv): Promise<string>;
  /** Clones; resolves with the content of the README, or with git's error. */
  clone(url: string, env?: NodeJS.ProcessEnv): Promise<string>;
  /** Clones with OpenSSH. @param privateKey as OpenSSH writes it */
  cloneOverSsh(url: string, privateKey: string, knownHosts: string): Promise<string>;
}

/** False where OpenSSH is not installed. */
export const hasSsh = spawnSync('ssh', ['-V']).error === undefined;

/** Creates a user. */
export function createGitUser(): GitUser {
  const folder = mkdtempSync(join(tmpdir(), 'clones-'));
  let clones = 0;

  const git = async (args: string[], env: NodeJS.ProcessEnv = {}) => {
    const child = spawn('git', args, {
      env: { PATH: process.env.PATH, HOME: folder, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...env },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    await new Promise((resolve) => child.on('close', resolve));
    return output;
  };

  const clone = async (url: string, env?: NodeJS.ProcessEnv) => {
    const target = join(folder, `clone-${clones++}`);
    const output = await git(['clone', '--quiet', url, target], env);
    return output === '' ? readFileSync(join(target, 'README.md'), 'utf8') : output;
  };

  return {
    folder,
    git,
    clone,
    cloneOverSsh(url, privateKey, knownHosts) {
      const name = join(folder, `identity-${clones}`);
      writeFileSync(name, privateKey, { mode: 0o600 });
      writeFileSync(`${name}.known_hosts`, `${knownHosts}\n`);
      const options = `-F none -i ${name} -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=${name}.known_hosts`;
      return clone(url, { GIT_SSH_COMMAND: `ssh ${options}` });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
