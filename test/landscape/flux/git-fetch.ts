import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '../git/repositories.ts';
import { FluxFailure } from './status.ts';

/** Credentials for a repository; over HTTP it knows public ones only. */
export type GitAuth = { type: 'none' } | { type: 'ssh'; identity: string; knownHosts: string };

/** `spec.ref` of a GitRepository, as far as it is understood. */
export interface GitRef {
  branch?: string;
}

/** Creates a client that runs git with a bare repository in `folder`. */
export function createGitClient(folder: string) {
  const repository = join(folder, 'repository.git');
  const ready = async () => {
    if (!existsSync(repository)) await git(['init', '--quiet', '--bare', repository]);
  };

  return {
    /** Fetches one revision into the bare repository. @throws FluxFailure GitOperationFailed */
    async fetch(url: string, ref: GitRef, auth: GitAuth) {
      await ready();
      const { branch = 'master', ...others } = ref;
      if (Object.keys(others).length > 0) throw failure('the stand-in follows branches only');
      const source = `refs/heads/${branch}`;
      await remote(['-C', repository, 'fetch', '--quiet', '--depth=1', '--no-tags', url, source], url, auth);
      const commit = await git(['-C', repository, 'rev-parse', 'FETCH_HEAD^{commit}']);
      return { commit, revision: `${branch}@sha1:${commit}` };
    },
    /** Writes the files of a commit into a new folder. */
    async checkOut(commit: string, files: string) {
      await mkdir(files);
      const place = ['-C', files, `--git-dir=${repository}`, `--work-tree=${files}`];
      await git([...place, 'checkout', '--quiet', '--force', commit, '--', '.']);
    },
  };
}

async function remote(args: string[], url: string, auth: GitAuth): Promise<void> {
  try {
    await git(args, { env: environment(auth) });
  } catch (error) {
    throw failure(explain(error instanceof Error ? error.message : String(error), url));
  }
}

const sshClient = join(import.meta.dirname, 'ssh-client.ts');

function environment(auth: GitAuth): NodeJS.ProcessEnv {
  if (auth.type === 'none') return {};
  return {
    GIT_SSH_COMMAND: `'${process.execPath}' '${sshClient}'`,
    GIT_SSH_VARIANT: 'ssh',
    SSH_IDENTITY: auth.identity,
    SSH_KNOWN_HOSTS: auth.knownHosts,
  };
}

/** Translates git's message into that of source-controller's Git client. */
function explain(output: string, url: string): string {
  const ssh = /ssh: handshake failed: .*|dial tcp: .*/.exec(output)?.[0];
  if (ssh !== undefined) return `unable to clone '${url}': ${ssh}`;
  const missing = /couldn't find remote ref (\S+)/.exec(output)?.[1];
  if (missing !== undefined) return `unable to clone '${url}': couldn't find remote ref "${missing}"`;
  if (/not found/i.test(output)) return `unable to list remote for '${url}': repository not found`;
  return `unable to clone '${url}': ${output.trim().split('\n')[0]}`;
}

function failure(message: string): FluxFailure {
  return new FluxFailure('GitOperationFailed', `failed to checkout and determine revision: ${message}`);
}
