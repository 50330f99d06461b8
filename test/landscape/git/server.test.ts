import ssh2 from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateKeyPair, openSshKey, publicLine } from './keys.ts';
import { type GitRepository, type GitServer, startGitServer } from './server.ts';
import { createGitUser, type GitUser, hasSsh } from './user.ts';

let git: GitServer;
let repository: GitRepository;
let closed: GitRepository;
let user: GitUser;
const files = { 'README.md': '# fleet\n', 'apps/podinfo/deployment.yaml': 'kind: Deployment\n' };
const credentials = { username: 'reader', password: 'marked-secret-of-http' };

beforeAll(async () => {
  git = await startGitServer();
  user = createGitUser();
  repository = await git.createRepository('fleet', files);
  closed = await git.createRepository('closed', files, { credentials });
});
afterAll(async () => {
  await git.stop();
  user[Symbol.dispose]();
});

const withCredentials = (url: string, { username, password }: typeof credentials) =>
  url.replace('://', `://${username}:${password}@`);

test('serves a public repository over HTTP', async () => {
  expect(await user.clone(repository.httpUrl)).toBe('# fleet\n');
});

test('commits to a branch', async () => {
  const commit = await repository.commit(
    { 'README.md': '# second\n', 'apps/podinfo/deployment.yaml': null },
    'Second',
    'next',
  );
  expect(commit).toMatch(/^[0-9a-f]{40}$/);
  expect(await user.git(['ls-remote', repository.httpUrl])).toContain(`${commit}\trefs/heads/next`);
  const again = await repository.commit({ 'README.md': '# third\n' }, 'Third', 'next');
  expect(again).not.toBe(commit);
  expect(await user.clone(repository.httpUrl)).toBe('# fleet\n');
});

test('requires the credentials of a private repository', async () => {
  expect(await user.clone(closed.httpUrl)).toContain('could not read Username');
  expect(await user.clone(withCredentials(closed.httpUrl, { ...credentials, password: 'wrong' }))).toContain(
    'Authentication failed',
  );
  expect(await user.clone(withCredentials(closed.httpUrl, credentials))).toBe('# fleet\n');
});

test('does not find an unknown repository', async () => {
  expect(await user.clone(repository.httpUrl.replace('fleet', 'other'))).toContain('not found');
});

/** Clones with OpenSSH. */
function cloneOverSsh(url: string, privateKey: string, knownHosts = git.knownHosts): Promise<string> {
  return user.cloneOverSsh(url, openSshKey(privateKey), knownHosts);
}

test.each(['ed25519', 'rsa'] as const)(
  'accepts a deploy key of type %s from OpenSSH, for its repository only',
  async (type) => {
    if (!hasSsh) return console.warn('ssh is not installed: cloning over SSH with it is not tried.');
    const { privateKey, publicKey } = generateKeyPair(type);
    expect(await cloneOverSsh(repository.sshUrl, privateKey)).toContain('Permission denied');
    git.addDeployKey('fleet', `${publicLine(publicKey)} comment`);
    expect(await cloneOverSsh(repository.sshUrl, privateKey)).toBe('# fleet\n');
    expect(await cloneOverSsh(closed.sshUrl, privateKey)).toContain('may not read it');
    git.removeDeployKey('fleet', publicLine(publicKey));
    expect(await cloneOverSsh(repository.sshUrl, privateKey)).toContain('Permission denied');
  },
);

test('is rejected by OpenSSH when known_hosts has another host key', async () => {
  if (!hasSsh) return console.warn('ssh is not installed: a wrong host key is not tried.');
  const { privateKey, publicKey } = generateKeyPair('ed25519');
  const [host = ''] = git.knownHosts.split(' ');
  expect(await cloneOverSsh(repository.sshUrl, privateKey, `${host} ${publicLine(publicKey)}`)).toContain(
    'Host key verification failed',
  );
});

/** Returns the first output of `git upload-pack`: all references. */
function references(url: string, privateKey: string): Promise<string> {
  const { hostname: host, port, pathname } = new URL(url);
  const client = new ssh2.Client();
  return new Promise<string>((resolve, reject) => {
    client.on('error', reject);
    client.on('ready', () => {
      client.exec(`git-upload-pack '${pathname}'`, (error, channel) => {
        if (error) return reject(error);
        channel.on('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
        channel.stderr.on('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
      });
    });
    client.connect({ host, port: Number(port), username: 'git', privateKey: openSshKey(privateKey) });
  }).finally(() => client.end());
}

test('accepts a deploy key from another client, too', async () => {
  const { privateKey, publicKey } = generateKeyPair('ed25519');
  git.addDeployKey('fleet', publicLine(publicKey));
  expect(await references(repository.sshUrl, privateKey)).toContain('refs/heads/main');
  expect(await references(closed.sshUrl, privateKey)).toContain('may not read it');
});

test('logs every access without secrets', async () => {
  await user.clone(withCredentials(closed.httpUrl, credentials));
  expect(git.accesses).toContainEqual({ protocol: 'http', repository: 'closed', who: 'reader', allowed: true });
  expect(git.accesses).toContainEqual({ protocol: 'http', repository: 'closed', who: undefined, allowed: false });
  expect(git.accesses).toContainEqual({
    protocol: 'ssh',
    repository: 'fleet',
    who: expect.stringMatching(/^SHA256:/),
    allowed: true,
  });
  expect(JSON.stringify(git.accesses)).not.toContain(credentials.password);
});
