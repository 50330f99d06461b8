import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { sshString } from '../../shared/ssh/public-key.ts';
import { readIdentity } from './identity.ts';

const seed = { seed: 20_261_122, numRuns: 100 };
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

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
const DH = '2a864886f70d010301';
const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
const wrapped = (algorithm: Buffer, key: Buffer) => pem('PRIVATE KEY', sequence(small(0), algorithm, der(0x04, key)));
const rsaNumbers = (n: Buffer, e: Buffer) =>
  sequence(small(0), integer(n), integer(e), ...[1, 1, 1, 1, 1, 1].map(small));

function openSsh(publicBlob: Buffer, rounds?: number): string {
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
  'a Diffie-Hellman key with a prime of 20 KiB': [
    wrapped(sequence(oid(DH), sequence(integer(ones(20_000)), small(2))), integer(ones(20))),
    unsupported,
  ],
  'a DSA key in its own format': [pem('DSA PRIVATE KEY', ones(100)), unsupported],
  'an elliptic curve that is described instead of named': [
    wrapped(sequence(oid(EC), sequence(small(1), integer(ones(9000)))), sequence(small(1), der(0x04, ones(32)))),
    unsupported,
  ],
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
  'headers instead of a key': [
    `-----BEGIN RSA PRIVATE KEY-----\n${'Proc-Type: 4,ENCRYPTED\n'.repeat(1000)}`,
    'is damaged',
  ],
  'an RSA key of 80,000 bits in the OpenSSH format': [
    openSsh(Buffer.concat([sshString('ssh-rsa'), sshString(Buffer.from([1, 0, 1])), sshString(ones(10_000))])),
    'is an RSA key of 80000 bits; use one of 1024 to 16384 bits',
  ],
  'four billion rounds of bcrypt': [
    openSsh(Buffer.concat([sshString('ssh-ed25519'), sshString(ones(32))]), 2 ** 32 - 1),
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

const valid: Record<string, string> = {
  'PKCS#8 Ed25519': generateKeyPairSync('ed25519').privateKey.export(pkcs8).toString(),
  'PKCS#1, encrypted': rsa
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'passphrase' })
    .toString(),
  'SEC 1': ec.export({ type: 'sec1', format: 'pem' }).toString(),
  OpenSSH: ssh2.utils.generateKeyPairSync('ed25519').private,
};

/** One sentence fragment that quotes nothing, or a key of a type that Git hosts accept. */
function expectVerdict(text: string): void {
  const read = readIdentity(text, 'passphrase');
  if ('problem' in read) expect(read.problem).toMatch(/^(is|cannot) [\w ,:;#()+.-]{5,120}$/);
  else expect(read.publicKey.type).toMatch(/^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/);
}

test.each(Object.entries(valid))('reads a valid key as %s, and returns a verdict on each mutation of it', (_, text) => {
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
});
