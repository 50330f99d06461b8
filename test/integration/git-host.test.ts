import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitClient } from '@shoot-flux/landscape/flux';
import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readIdentity } from '../../functions/keys/ssh/identity.ts';
import { generateIdentity } from '../../functions/keys/ssh/key-pair.ts';
import { scanHostKey } from '../../functions/keys/ssh/scan-host-key.ts';
import { scanPolicy } from '../../functions/keys/ssh/scan-policy.ts';
import { sshHost } from '../../shared/ssh/host.ts';
import { hostKeyLine } from '../../shared/ssh/known-hosts.ts';
import { fingerprint, type PublicKey, publicLine } from '../../shared/ssh/public-key.ts';
import { openSshPrivateKey } from '../../shared/ssh/testing.ts';

/** The servers of these tests listen on the loopback address. */
const policy = scanPolicy({ mode: 'on', allow: ['127.0.0.0/8'], deny: [] });

let git: GitServer;
let repository: GitRepository;
let closed: GitRepository;
let folder: string;
const files = { 'README.md': '# fleet\n' };

beforeAll(async () => {
  git = await startGitServer();
  folder = mkdtempSync(join(tmpdir(), 'clones-'));
  repository = await git.createRepository('fleet', files);
  closed = await git.createRepository('closed', files);
});
afterAll(async () => {
  await git.stop();
  rmSync(folder, { recursive: true });
});

let clones = 0;

/** Clones with the real git; resolves with what is in the README, or what git complained about. */
async function clone(url: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const target = join(folder, `clone-${clones++}`);
  const output = await run('git', ['clone', '--quiet', url, target], env);
  return output === '' ? readFileSync(join(target, 'README.md'), 'utf8') : output;
}

/** What a program prints. */
async function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: folder, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...env },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  await new Promise((resolve) => child.on('close', resolve));
  return output;
}

interface Pair {
  identity: string;
  publicKey: PublicKey;
}

async function newPair(type: 'ed25519' | 'rsa'): Promise<Pair> {
  const identity = await generateIdentity(type);
  const read = readIdentity(identity);
  if ('problem' in read) throw new Error(read.problem);
  return { identity, publicKey: read.publicKey };
}

const hasSsh = spawnSync('ssh', ['-V']).error === undefined;

/** Clones with OpenSSH. */
function cloneOverSsh(url: string, identity: string, knownHosts = git.knownHosts): Promise<string> {
  const name = join(folder, `identity-${clones}`);
  writeFileSync(name, openSshPrivateKey(identity), { mode: 0o600 });
  writeFileSync(`${name}.known_hosts`, `${knownHosts}\n`);
  const options = `-F none -i ${name} -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=${name}.known_hosts`;
  return clone(url, { GIT_SSH_COMMAND: `ssh ${options}` });
}

test.each(['ed25519', 'rsa'] as const)(
  'a generated key of type %s opens its repository to OpenSSH, and no other',
  async (type) => {
    if (!hasSsh) return console.warn('ssh is not installed: cloning over SSH with it is not tried.');
    const { identity, publicKey } = await newPair(type);
    expect(await cloneOverSsh(repository.sshUrl, identity)).toContain('Permission denied');
    git.addDeployKey('fleet', publicLine(publicKey, 'comment'));
    expect(await cloneOverSsh(repository.sshUrl, identity)).toBe('# fleet\n');
    expect(await cloneOverSsh(closed.sshUrl, identity)).toContain('may not read it');
    git.removeDeployKey('fleet', publicLine(publicKey));
    expect(await cloneOverSsh(repository.sshUrl, identity)).toContain('Permission denied');
  },
);

test.each(['ed25519', 'rsa'] as const)('a generated key of type %s opens its repository to Flux', async (type) => {
  const { identity, publicKey } = await newPair(type);
  git.addDeployKey('fleet', publicLine(publicKey));
  const auth = { type: 'ssh', identity, knownHosts: git.knownHosts } as const;
  const client = createGitClient(mkdtempSync(join(folder, 'flux-')));
  const { revision } = await client.fetch(repository.sshUrl, { branch: 'main' }, auth);
  expect(revision).toMatch(/^main@sha1:/);
});

test('scans the host key that the server has', async () => {
  const key = await scanHostKey(sshHost(repository.sshUrl), { policy, signal: AbortSignal.timeout(20_000) });
  expect(fingerprint(key)).toBe(git.hostKeyFingerprint);
  expect(hostKeyLine(sshHost(repository.sshUrl), key)).toBe(git.knownHosts);
});

test('gives the same error for a server that does not speak SSH, for none at all, and for no time left', async () => {
  const port = Number(new URL(repository.httpUrl).port);
  const { signal } = new AbortController();
  const attempts = await Promise.allSettled([
    scanHostKey({ host: '127.0.0.1', port }, { policy, signal, timeoutMs: 500 }),
    scanHostKey({ host: '127.0.0.1', port: 1 }, { policy, signal, timeoutMs: 500 }),
    scanHostKey(sshHost(repository.sshUrl), { policy, signal: AbortSignal.abort() }),
  ]);
  const sentence = expect.stringMatching(/presented no SSH host key; .* knownHosts/);
  for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: { message: sentence } });
});
