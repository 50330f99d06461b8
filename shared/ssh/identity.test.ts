import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { openSshKey as asOpenSshKey } from '@shoot-flux/landscape/git/keys';
import fc from 'fast-check';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { generateIdentity, readIdentity } from './identity.ts';
import { parsePublicLine, publicLine, sshString } from './public-key.ts';

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

test.each(Object.entries(good))('derives the same public key from a %s key as another implementation', (type, pem) => {
  const key = publicKeyOf(pem);
  expect(key.type).toBe(type);
  expect(parsePublicLine(publicLine(key, 'a comment'))).toEqual(key);
  // ssh2 reads no PKCS#8.
  const format = type.startsWith('ecdsa') ? 'sec1' : 'pkcs1';
  const isOther = type === 'ssh-ed25519';
  const text = isOther ? asOpenSshKey(pem) : createPrivateKey(pem).export({ type: format as 'sec1', format: 'pem' });
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error) throw parsed;
  expect(publicLine(key)).toBe(`${type} ${parsed.getPublicSSH().toString('base64')}`);
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
  expect(readIdentity(pem)).toMatchObject({ problem: expect.stringContaining('passphrase') });
  expect(publicKeyOf(pem, passphrase).type).toBe('ssh-ed25519');
});

test('needs the right passphrase of an encrypted key in the PKCS#1 format', () => {
  const pem = rsa.export({ type: 'pkcs1', ...legacy }).toString();
  expect(readIdentity(pem)).toMatchObject({ problem: expect.stringContaining('passphrase') });
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

test.each(['\n', '\r\n'])('says that a passphrase ends with %j, in either format', (end) => {
  const openSsh = ssh2.utils.generateKeyPairSync('ed25519', { passphrase, cipher: 'aes256-ctr', rounds: 4 }).private;
  const pkcs1 = rsa.export({ type: 'pkcs1', ...legacy }).toString();
  for (const pem of [openSsh, pkcs1]) {
    expect(readIdentity(pem, `${passphrase}${end}`)).toMatchObject({
      problem: 'is encrypted, and password ends with a line break, which Flux takes as a part of the passphrase',
    });
  }
  // Without a passphrase, Flux does not read it.
  expect(publicKeyOf(good['ssh-ed25519'] ?? '', `${passphrase}${end}`).type).toBe('ssh-ed25519');
});

test.each([
  ['PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n', 'is in the format of PuTTY', 'puttygen'],
  ['-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n', 'is encrypted in a form that Flux does not read', 'ssh-keygen -p'],
  ['-----BEGIN PUBLIC KEY-----\nAAAA\n', 'is a public key', 'without .pub'],
  ['---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n', 'is a public key', 'without .pub'],
  ['ecdsa-sha2-nistp256 AAAAE2VjZHNh me', 'is a public key', 'without .pub'],
  ['-----BEGIN CERTIFICATE-----\nAAAA\n', 'is a certificate', 'private key'],
])('says what %j is, and what to do', (text, problem, remedy) => {
  expect(readIdentity(text)).toEqual({ problem, remedy: expect.stringContaining(remedy) });
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
  expect(read).toMatchObject({ problem: expect.any(String) });
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

const seed = { seed: 20_261_122, numRuns: 100 };

/** Encodes one element of DER. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const integer = (bytes: Uint8Array) => der(0x02, Buffer.from([0]), bytes);
const small = (value: number) => der(0x02, Buffer.from([value]));
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const ones = (bytes: number) => Buffer.alloc(bytes, 0xff);
const DSA = '2a8648ce380401';
const RSA = '2a864886f70d010101';

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
const wrapped = (algorithm: Buffer, key: Buffer) => pem('PRIVATE KEY', sequence(small(0), algorithm, der(0x04, key)));
const rsaNumbers = (n: Buffer, e: Buffer) =>
  sequence(small(0), integer(n), integer(e), ...[1, 1, 1, 1, 1, 1].map(small));

function openSshFile(publicBlob: Buffer, rounds?: number): string {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(rounds ?? 0);
  const options = rounds === undefined ? sshString('') : sshString(Buffer.concat([sshString('salt'), count]));
  const names = rounds === undefined ? ['none', 'none'] : ['aes256-ctr', 'bcrypt'];
  const one = Buffer.from([0, 0, 0, 1]);
  const parts = [...names.map(sshString), options, one, sshString(publicBlob), sshString(ones(64))];
  return pem('OPENSSH PRIVATE KEY', Buffer.concat([Buffer.from('openssh-key-v1\0'), ...parts]));
}

const unsupported = 'is of a type that Git hosts do not accept; use Ed25519, ECDSA or RSA';
const dsa = sequence(oid(DSA), sequence(integer(ones(22_000)), integer(ones(32)), small(2)));
const hostile: Record<string, [text: string, problem: string]> = {
  'a DSA key with a prime of 22 KiB': [wrapped(dsa, small(3)), unsupported],
  'a DSA key that calls itself RSA': [
    wrapped(dsa, small(3)).replaceAll('PRIVATE KEY', 'RSA PRIVATE KEY'),
    'is damaged',
  ],
  'a DSA key in its own format': [pem('DSA PRIVATE KEY', ones(100)), unsupported],
  'an RSA key of 160,000 bits': [
    wrapped(sequence(oid(RSA)), rsaNumbers(ones(20_000), Buffer.from([1, 0, 1]))),
    'is an RSA key of 160000 bits; use one of 1024 to 16384 bits',
  ],
  'an RSA key of 768 bits': [
    generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey.export(pkcs8).toString(),
    'is an RSA key of 768 bits; use one of 1024 to 16384 bits',
  ],
  'an RSA key with a huge public exponent': [
    pem('RSA PRIVATE KEY', rsaNumbers(ones(2048), ones(2048))),
    'is an RSA key with an unusual public exponent; use one with 65537',
  ],
  'an RSA key whose primes do not match': [
    pem('RSA PRIVATE KEY', rsaNumbers(ones(256), Buffer.from([1, 0, 1]))),
    'is damaged',
  ],
  'text of a megabyte': [
    `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(1024 * 1024)}`,
    'is longer than 32 KiB, which no key for a Git host is',
  ],
  'an RSA key of 80,000 bits in the OpenSSH format': [
    openSshFile(Buffer.concat([sshString('ssh-rsa'), sshString(Buffer.from([1, 0, 1])), sshString(ones(10_000))])),
    'is an RSA key of 80000 bits; use one of 1024 to 16384 bits',
  ],
  'four billion rounds of bcrypt': [
    openSshFile(Buffer.concat([sshString('ssh-ed25519'), sshString(ones(32))]), 2 ** 32 - 1),
    'is encrypted with more than 10000 rounds; encrypt it again with fewer (ssh-keygen -p -a 100)',
  ],
};

test('reads a key after one whose size OpenSSL cannot handle', () => {
  const [tooLarge] = hostile['an RSA key of 160,000 bits'] ?? [''];
  expect(readIdentity(tooLarge)).toHaveProperty('problem');
  expect(readIdentity(rsa.export(pkcs8).toString())).toMatchObject({ publicKey: { type: 'ssh-rsa' } });
});

test.each(Object.entries(hostile))('refuses %s with one sentence', (_, [text, problem]) => {
  expect(readIdentity(text, 'passphrase')).toEqual({ problem });
});

const valid: Record<string, string | undefined> = {
  'PKCS#8 Ed25519': good['ssh-ed25519'],
  'PKCS#1, encrypted': rsa.export({ type: 'pkcs1', ...legacy, passphrase: 'passphrase' }).toString(),
  'SEC 1': good['ecdsa-sha2-nistp384'],
  OpenSSH: openSshKey,
};

/** One sentence fragment that quotes nothing, or a key of a type that Git hosts accept. */
function expectVerdict(text: string): void {
  const read = readIdentity(text, 'passphrase');
  if ('problem' in read) expect(read.problem).toMatch(/^(is|cannot) [\w ,:;#()+.-]{5,120}$/);
  else expect(read.publicKey.type).toMatch(/^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/);
}

test.each(Object.entries(valid))(
  'reads a valid key as %s, and returns a verdict on each mutation of it',
  (_, text = '') => {
    expect(readIdentity(text, 'passphrase')).toHaveProperty('publicKey');
    const [first = '', ...rest] = text.trim().split('\n');
    const body = Buffer.from(rest.filter((line) => !/[:-]/.test(line)).join(''), 'base64');
    const label = /BEGIN (.*)-----/.exec(first)?.[1] ?? '';
    const headers = rest.filter((line) => line.includes(':')).map((line) => `${line}\n`);
    const position = fc.nat(body.length - 1);
    const mutations = fc.array(fc.tuple(position, fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(mutations, fc.nat(body.length), fc.uint8Array({ maxLength: 40 }), (changes, cut, more) => {
        const bytes = Buffer.from(body);
        for (const [at, value] of changes) bytes[at] = value;
        const inside = pem(label, Buffer.concat([bytes.subarray(0, cut), more, bytes.subarray(cut)]));
        expectVerdict(pem(label, bytes).replace('\n', `\n${headers.join('')}${headers.length > 0 ? '\n' : ''}`));
        expectVerdict(inside);
        expectVerdict(pem(label, bytes.subarray(0, cut)));
      }),
      seed,
    );
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), fc.string({ maxLength: 20 }), (from, to, noise) => {
        expectVerdict(`${text.slice(0, from)}${noise}${text.slice(to)}`);
      }),
      seed,
    );
  },
);
