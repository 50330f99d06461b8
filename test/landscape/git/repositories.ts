import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Path -> content; `null` removes the file. */
export type Files = Record<string, string | null>;

export type Repositories = Awaited<ReturnType<typeof openRepositories>>;

/** Opens bare repositories in a temporary folder. */
export async function openRepositories() {
  const root = await mkdtemp(join(tmpdir(), 'git-server-'));
  const folder = (name: string) => join(root, `${name}.git`);
  const has = (name: string) => /^[\w.-]+$/.test(name) && existsSync(folder(name));
  return {
    root,
    has,
    async create(name: string) {
      await git(['init', '--quiet', '--bare', '--initial-branch=main', folder(name)]);
    },
    /** Commits on a branch and returns the commit id. */
    async commit(name: string, files: Files, message: string, branch = 'main') {
      if (!has(name)) throw new Error(`There is no repository ${name}; create it first.`);
      const ref = `refs/heads/${branch}`;
      const parent = await git(['-C', folder(name), 'for-each-ref', '--format=%(objectname)', ref]);
      await git(['-C', folder(name), 'fast-import', '--quiet'], {
        input: importStream(ref, parent, files, message),
      });
      return git(['-C', folder(name), 'rev-parse', ref]);
    },
    async [Symbol.asyncDispose]() {
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Returns the input of `git fast-import` for one commit: it needs no work tree. */
function importStream(ref: string, parent: string, files: Files, message: string): string {
  const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  const seconds = Math.floor(Date.now() / 1000);
  const changes = Object.entries(files).map(([path, content]) =>
    content === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(content)}`,
  );
  const header = `commit ${ref}\ncommitter Landscape <landscape@example.org> ${seconds} +0000\n${data(message)}`;
  return `${header}${parent === '' ? '' : `from ${parent}\n`}${changes.join('')}\n`;
}

/** Runs git without the user's configuration; returns its output without the last newline. @throws Error with what git says */
export function git(args: string[], { input = '', env = {} as NodeJS.ProcessEnv } = {}): Promise<string> {
  const child = spawn('git', args, { stdio: 'pipe', env: { ...gitEnvironment(), ...env } });
  child.stdin.on('error', () => {}).end(input);
  const answers = [text(child.stdout), text(child.stderr)];
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', async (code) => {
      const [output = '', errors = ''] = await Promise.all(answers);
      if (code === 0) resolve(output.trim());
      else reject(new Error(errors.trim()));
    });
  });
}

/** The least environment that git needs. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}
