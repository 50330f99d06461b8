import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitAuth } from './git-auth.ts';
import { FluxFailure } from './status.ts';

/** `spec.ref` of a GitRepository. */
export interface GitRef {
  branch?: string;
  tag?: string;
  semver?: string;
  name?: string;
  commit?: string;
}

export interface Fetched {
  commit: string;
  /** `main@sha1:…`, as status.artifact has it. */
  revision: string;
}

export interface GitClient {
  /** Fetches one revision into the bare repository. @throws FluxFailure GitOperationFailed */
  fetch(url: string, ref: GitRef, auth: GitAuth): Promise<Fetched>;
  /** Returns the files of a commit as tar.gz; the same bytes for the same commit. */
  archive(commit: string): Promise<Buffer>;
}

/** Creates a client that runs git with a bare repository in `folder`. */
export function createGitClient(folder: string): GitClient {
  const repository = join(folder, 'repository.git');
  const ready = async () => {
    if (!existsSync(repository)) await git(['init', '--quiet', '--bare', repository]);
  };

  const resolve = async (url: string, ref: GitRef, auth: GitAuth) => {
    if (ref.semver === undefined) return referenceOf(ref);
    const listed = await remote(['ls-remote', '--tags', '--refs', url], url, auth);
    const tags = [...listed.matchAll(/refs\/tags\/(\S+)/g)].map(([, tag]) => tag ?? '');
    const tag = newest(tags, ref.semver);
    if (tag === undefined) throw failure(`no match found for semver: ${ref.semver}`);
    return { wanted: `refs/tags/${tag}`, shown: tag };
  };

  return {
    async fetch(url, ref, auth) {
      await ready();
      const { wanted, shown } = await resolve(url, ref, auth);
      const source = ref.commit ?? wanted;
      await remote(['-C', repository, 'fetch', '--quiet', '--depth=1', '--no-tags', url, source], url, auth);
      const commit = (await git(['-C', repository, 'rev-parse', 'FETCH_HEAD^{commit}'])).toString().trim();
      return { commit, revision: shown === '' ? `sha1:${commit}` : `${shown}@sha1:${commit}` };
    },
    archive: (commit) =>
      git(['-C', repository, '-c', 'tar.tar.gz.command=gzip -n', 'archive', '--format=tar.gz', commit]),
  };
}

/** Precedence rises from branch to commit; the default is the branch `master` (docs/flux-facts.md, Sources and Secrets). */
function referenceOf({ branch, tag, name, commit }: GitRef): { wanted: string; shown: string } {
  if (commit !== undefined) return { wanted: commit, shown: branch ?? '' };
  if (name !== undefined) return { wanted: name, shown: name };
  if (tag !== undefined) return { wanted: `refs/tags/${tag}`, shown: tag };
  return { wanted: `refs/heads/${branch ?? 'master'}`, shown: branch ?? 'master' };
}

/** Returns the newest tag in a range; understands `*`, `x`, `1.x`, `>=1.0.0` and exact versions. */
function newest(tags: string[], range: string): string | undefined {
  const parts = (text: string) => text.replace(/^v/, '').split('.').map(Number);
  const versions = tags.filter((tag) => /^v?\d+\.\d+\.\d+$/.test(tag));
  const compare = (a: string, b: string) => {
    const [left, right] = [parts(a), parts(b)];
    return left.map((part, index) => part - (right[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
  };
  const [, atLeast] = /^>=\s*(\S+)/.exec(range) ?? [];
  const fits = (tag: string) => {
    if (atLeast !== undefined) return compare(tag, atLeast) >= 0;
    const wanted = range.replace(/^[v^~]/, '').split('.');
    return wanted.every((part, index) => /^[*xX]$/.test(part) || Number(part) === parts(tag)[index]);
  };
  return versions.filter(fits).sort(compare).at(-1);
}

async function remote(args: string[], url: string, auth: GitAuth): Promise<string> {
  try {
    return (await git(args, environment(auth))).toString();
  } catch (error) {
    throw failure(explain(error instanceof Error ? error.message : String(error), url));
  }
}

const sshClient = join(import.meta.dirname, 'ssh-client.ts');

function environment(auth: GitAuth): NodeJS.ProcessEnv {
  if (auth.type === 'ssh') {
    return {
      GIT_SSH_COMMAND: `'${process.execPath}' '${sshClient}'`,
      GIT_SSH_VARIANT: 'ssh',
      SSH_IDENTITY: auth.identity,
      SSH_KNOWN_HOSTS: auth.knownHosts,
      SSH_PASSPHRASE: auth.password ?? '',
    };
  }
  const header = authorization(auth);
  if (header === undefined) return {};
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: ${header}`,
  };
}

function authorization(auth: GitAuth): string | undefined {
  if (auth.type === 'bearer') return `Bearer ${auth.token}`;
  if (auth.type !== 'basic') return undefined;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}

/** Translates git's message into that of source-controller's Git client. */
function explain(output: string, url: string): string {
  const ssh = /ssh: handshake failed: .*|dial tcp: .*/.exec(output)?.[0];
  if (ssh !== undefined) return `unable to clone '${url}': ${ssh}`;
  const missing = /couldn't find remote ref (\S+)/.exec(output)?.[1];
  if (missing !== undefined) return `unable to clone '${url}': couldn't find remote ref "${missing}"`;
  if (/could not read Username|Authentication failed|401|403/.test(output)) {
    return `unable to list remote for '${url}': authentication required`;
  }
  if (/not found/i.test(output)) return `unable to list remote for '${url}': repository not found`;
  return `unable to clone '${url}': ${output.trim().split('\n')[0]}`;
}

function failure(message: string): FluxFailure {
  return new FluxFailure('GitOperationFailed', `failed to checkout and determine revision: ${message}`);
}

function git(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Buffer> {
  const child = spawn('git', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      ...env,
    },
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output));
      else reject(new Error(Buffer.concat(errors).toString('utf8')));
    });
  });
}
