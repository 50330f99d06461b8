import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createGitClient } from '@shoot-flux/landscape/flux';
import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { openSshKey } from '@shoot-flux/landscape/git/keys';
import { createGitUser, type GitUser, hasSsh } from '@shoot-flux/landscape/git/user';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateIdentity, readIdentity } from '../../functions/keys/identity.ts';
import { type PublicKey, publicLine } from '../../shared/ssh/public-key.ts';

let git: GitServer;
let repository: GitRepository;
let closed: GitRepository;
let user: GitUser;
const files = { 'README.md': '# fleet\n' };

beforeAll(async () => {
  git = await startGitServer();
  user = createGitUser();
  repository = await git.createRepository('fleet', files);
  closed = await git.createRepository('closed', files);
});
afterAll(async () => {
  await git.stop();
  user[Symbol.dispose]();
});

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

/** Clones with OpenSSH. */
function cloneOverSsh(url: string, identity: string): Promise<string> {
  return user.cloneOverSsh(url, openSshKey(identity), git.knownHosts);
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
  const client = createGitClient(mkdtempSync(join(user.folder, 'flux-')));
  const { revision } = await client.fetch(repository.sshUrl, { branch: 'main' }, auth);
  expect(revision).toMatch(/^main@sha1:/);
});
