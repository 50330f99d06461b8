import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { fingerprint, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { generateIdentity, readIdentity } from './identity.ts';
import { openSshPrivateKey } from './openssh-key.testing.ts';

const passphrase = 'correct horse';
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const legacy = { format: 'pem', cipher: 'aes-256-cbc', passphrase } as const;

const good: Record<string, string> = {
  'ssh-ed25519': await generateIdentity('ed25519'),
  'ecdsa-sha2-nistp256': ec('P-256').export(pkcs8).toString(),
  'ecdsa-sha2-nistp384': ec('P-384').export({ type: 'sec1', format: 'pem' }).toString(),
  'ecdsa-sha2-nistp521': ec('P-521').export(pkcs8).toString(),
  'ssh-rsa': rsa.export({ type: 'pkcs1', format: 'pem' }).toString(),
};

function publicKeyOf(pem: string, password?: string) {
  const read = readIdentity(pem, password);
  if ('problem' in read) throw new Error(read.problem);
  return read.publicKey;
}

const sshKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

/** Returns the output of ssh-keygen for a key. */
function openSsh(content: string, ...args: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'));
  const file = join(folder, 'key');
  writeFileSync(file, content, { mode: 0o600 });
  const { stdout, stderr, status } = spawnSync('ssh-keygen', [...args, '-f', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

test.each(Object.entries(good))('derives the same public key from a %s key as OpenSSH', (_, pem) => {
  if (!sshKeygen) return console.warn('ssh-keygen is not installed: public keys are not compared with its output.');
  const key = publicKeyOf(pem);
  const [type, blob] = openSsh(openSshPrivateKey(pem), '-y').trim().split(' ');
  expect(publicLine(key)).toBe(`${type} ${blob}`);
  expect(openSsh(publicLine(key, 'comment'), '-l')).toContain(`${fingerprint(key)} comment`);
});

test.each(Object.entries(good))('recognizes the type of a %s key', (type, pem) => {
  expect(publicKeyOf(pem).type).toBe(type);
  expect(parsePublicLine(publicLine(publicKeyOf(pem), 'a comment'))).toEqual(publicKeyOf(pem));
});

test('generates RSA keys of 4096 bits as PKCS#8', async () => {
  const pem = await generateIdentity('rsa');
  expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n[\s\S]+\n-----END PRIVATE KEY-----\n$/);
  expect(publicKeyOf(pem).blob.length).toBe(4 + 'ssh-rsa'.length + 4 + 3 + 4 + 1 + 512);
});

test.each(['ed25519', 'ecdsa', 'rsa'] as const)('reads the OpenSSH format of %s keys', (type) => {
  const options = { bits: type === 'ecdsa' ? 256 : 2048, comment: 'me' };
  const pair = ssh2.utils.generateKeyPairSync(type as 'rsa', options);
  expect(publicLine(publicKeyOf(pair.private), 'me')).toBe(pair.public);
});

test('needs the passphrase of an encrypted key in the OpenSSH format', () => {
  const { private: pem } = ssh2.utils.generateKeyPairSync('ed25519', { passphrase, cipher: 'aes256-ctr', rounds: 4 });
  expect(readIdentity(pem)).toEqual({ problem: expect.stringContaining('passphrase') });
  expect(publicKeyOf(pem, passphrase).type).toBe('ssh-ed25519');
});

test('needs the right passphrase of an encrypted key in the PKCS#1 format', () => {
  const pem = rsa.export({ type: 'pkcs1', ...legacy }).toString();
  expect(readIdentity(pem)).toEqual({ problem: expect.stringContaining('passphrase') });
  expect(readIdentity(pem, 'another')).toEqual({ problem: expect.stringContaining('passphrase') });
  expect(publicKeyOf(pem, passphrase).type).toBe('ssh-rsa');
});

const lines = (good['ssh-ed25519'] ?? '').trim().split('\n');
// Each as the PEM decoder of Go reads it.
test.each([
  ['an empty line before it', `\n\n${lines.join('\n')}`],
  ['line ends of Windows', lines.join('\r\n')],
  ['no end of its last line', lines.join('\n')],
  ['spaces at the ends of its lines', lines.join('  \n')],
  ['spaces before its content', lines.map((line) => (line.startsWith('-') ? line : `  ${line}`)).join('\n')],
])('reads a key with %s', (_, pem) => {
  expect(publicKeyOf(pem).type).toBe('ssh-ed25519');
});

test.each([
  ['spaces in place of line ends', lines.join(' ')],
  ['its last line joined to the one before', `${lines.slice(0, -1).join('\n')} ${lines.at(-1)}\n`],
  ['indented lines', lines.map((line) => `  ${line}`).join('\n')],
  ['an indented last line', lines.join('\n  ')],
  ['a byte order mark', `\uFEFF${lines.join('\n')}`],
  ['text after its last line', `${lines.join('\n')} my key`],
])('rejects a key with %s, which Flux would not find', (_, pem) => {
  expect(readIdentity(pem)).toEqual({ problem: 'cannot be read by Flux, because its lines are joined or indented' });
});

const openSshKey = ssh2.utils.generateKeyPairSync('ed25519').private;
const bad: Record<string, string> = {
  nothing: '',
  prose: 'my private key',
  'a public key': publicLine(publicKeyOf(good['ssh-ed25519'] ?? '')),
  'a certificate': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  'PKCS#8 with a passphrase, which Flux does not read': rsa.export({ type: 'pkcs8', ...legacy }).toString(),
  'a truncated key': (good['ssh-rsa'] ?? '').slice(0, 300),
  'a truncated OpenSSH key': openSshKey.replace(/\n.{64}\n/, '\n'),
  'an empty OpenSSH key': '-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----\n',
  'a type that no Git host accepts': generateKeyPairSync('ed448').privateKey.export(pkcs8).toString(),
};

test.each(Object.entries(bad))('rejects %s without quoting it', (_, pem) => {
  const read = readIdentity(pem);
  expect(read).toEqual({ problem: expect.any(String) });
  for (const line of pem.split('\n').filter((text) => text.length > 20 && !text.startsWith('-----')))
    expect(JSON.stringify(read)).not.toContain(line);
});

test('generates at most two RSA keys at a time, so that names are resolved and other keys are generated meanwhile', async () => {
  const isOver = new AbortController();
  const first = [generateIdentity('rsa'), generateIdentity('rsa')];
  let ready = 0;
  for (const key of first) void key.then(() => ready++);
  const others = Array.from({ length: 10 }, () => generateIdentity('rsa', isOver.signal));
  const refused = Promise.allSettled(others);
  await lookup('localhost');
  expect(await generateIdentity('ed25519')).toContain('PRIVATE KEY');
  // Those that wait for their turn end with their runs.
  isOver.abort(new Error('the run is over'));
  expect((await refused).filter(({ status }) => status === 'rejected').length + ready).toBeGreaterThanOrEqual(10);
  expect(await Promise.all(first)).toEqual([expect.stringContaining('PRIVATE KEY'), expect.anything()]);
});
