import {
  createECDH,
  createPrivateKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type PublicKey, publicKeyOf, sshReader, sshString } from './public-key.ts';

/** The public key of a private key, or the problem with the text: a clause that never quotes it. */
export type Identity = { publicKey: PublicKey } | { problem: string; remedy?: string };

/** An RSA key of 16,384 bits, the largest that OpenSSL uses, takes 13 KiB. */
const MAX_PEM_KIB = 32;

const tooLong: Identity = { problem: `is longer than ${MAX_PEM_KIB} KiB, which no key for a Git host is` };
const unknownFormat: Identity = {
  problem: 'is not a private key in a format that Flux reads (PKCS#8, PKCS#1, SEC1 or OpenSSH)',
};
const unsupported = { problem: 'is of a type that Git hosts do not accept; use Ed25519, ECDSA or RSA' };
const encrypted: Identity = {
  problem: 'is encrypted, and password does not contain its passphrase',
  remedy: 'write it there, or use a key without one',
};
const damaged: Identity = { problem: 'is damaged' };
const withoutLines: Identity = { problem: 'cannot be read by Flux, because its lines are joined or indented' };
const undecryptable: Identity = {
  problem: 'cannot be decrypted: it is damaged, or the key password holds the wrong passphrase',
};

const LINE_BREAK: Identity = {
  problem: 'is encrypted, and password ends with a line break, which Flux takes as a part of the passphrase',
  remedy: "write it without one, for example with printf '%s' instead of echo",
};

/** What people write in place of a private key that Flux reads. */
const mistaken: [begin: RegExp, identity: Identity][] = [
  [
    /^PuTTY-User-Key-File-/,
    { problem: 'is in the format of PuTTY', remedy: 'convert it with puttygen KEY -O private-openssh -o NEW' },
  ],
  [
    /^-----BEGIN ENCRYPTED PRIVATE KEY-----/,
    { problem: 'is encrypted in a form that Flux does not read', remedy: 'convert it with ssh-keygen -p -f KEY' },
  ],
  [
    /^-----BEGIN (?:RSA |EC |)PUBLIC KEY-----|^---- BEGIN SSH2 PUBLIC KEY|^(?:ssh|ecdsa)-[\w-]+ AAAA/,
    { problem: 'is a public key', remedy: 'write the private key there, whose file has the same name without .pub' },
  ],
  [/^-----BEGIN CERTIFICATE-----/, { problem: 'is a certificate', remedy: 'write the private key there' }],
];

/** The formats that Flux reads (golang.org/x/crypto/ssh, ParseRawPrivateKey), without DSA, which is no longer safe. */
const FORMAT = /^-----BEGIN ((?:RSA |EC |OPENSSH |DSA |)PRIVATE KEY)-----\s/;

/** The headers of RFC 1421 in an encrypted block, the content, and the end. */
const BLOCK =
  /^-----BEGIN ([A-Z ]+)-----\s+(Proc-Type: 4,ENCRYPTED\s+DEK-Info: [\w-]+,\w+\s+)?([\w+/=\s]*)-----END \1-----/;

/** Flux finds a key only between a first and a last line that stand at the start of lines of their own. */
const HAS_LINES = /^(?:\s*\n)?-----BEGIN [^\n]*\n[\s\S]*?\n-----END [A-Z ]*-----[ \t\r]*(?:\n|$)/;

/**
 * Derives the public key of a private key in any format that Flux reads.
 * @param passphrase the Secret's `password`, with which Flux decrypts the key
 */
export function readIdentity(pem: string, passphrase?: string): Identity {
  if (pem.length > MAX_PEM_KIB * 1024) return tooLong;
  const text = pem.trimStart();
  const format = FORMAT.exec(text)?.[1];
  if (format === undefined) return mistaken.find(([begin]) => begin.test(text))?.[1] ?? unknownFormat;
  if (format === 'DSA PRIVATE KEY') return unsupported;
  const [block, , headers, content = ''] = BLOCK.exec(text) ?? [];
  if (block === undefined) return damaged;
  if (!HAS_LINES.test(pem)) return withoutLines;
  if (headers !== undefined && !passphrase) return encrypted;
  try {
    if (format === 'OPENSSH PRIVATE KEY') return openSshIdentity(Buffer.from(content, 'base64'), passphrase);
    const problem = typeProblem(format, content);
    return problem ?? identityOf(createPrivateKey({ key: plainPem(format, headers, content), passphrase }));
  } catch {
    if (headers === undefined) return damaged;
    return endsWithLineBreak(passphrase) ? LINE_BREAK : undecryptable;
  }
}

const endsWithLineBreak = (passphrase: string | undefined) => /[\r\n]$/.test(passphrase ?? '');

/** OpenSSL reads neither long nor indented lines, which Flux accepts. */
function plainPem(format: string, headers: string | undefined, content: string): string {
  const header = headers === undefined ? '' : `${headers.trim().replace(/\s*\n\s*/g, '\n')}\n\n`;
  const lines = content.replace(/\s/g, '').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${format}-----\n${header}${lines.join('\n')}\n-----END ${format}-----\n`;
}

const LENGTH = '(?:[0-7].|81..|82....)';
/** PKCS#8 (RFC 5208) in hexadecimal, up to the identifier of the key's type. */
const PKCS8 = new RegExp(`^30${LENGTH}02010[01]30${LENGTH}06(.*)`);
/** RSA, ECDSA with a curve that is named, and Ed25519. */
const TYPES = ['092a864886f70d010101', '072a8648ce3d020106', '032b6570'];

/** OpenSSL completes a DSA or Diffie-Hellman key with a large prime for seconds, whatever the first line calls it. */
function typeProblem(format: string, content: string): Identity | undefined {
  const type = PKCS8.exec(Buffer.from(content, 'base64').toString('hex', 0, 64))?.[1];
  if ((type !== undefined) !== (format === 'PRIVATE KEY')) return damaged;
  return type === undefined || TYPES.some((known) => type.startsWith(known)) ? undefined : unsupported;
}

const curves: Record<string, string> = { prime256v1: 'nistp256', secp384r1: 'nistp384', secp521r1: 'nistp521' };

/** @throws Error when the numbers do not belong together */
function identityOf(key: KeyObject): Identity {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const curve = curves[namedCurve];
  if (key.asymmetricKeyType === 'rsa') {
    const problem = rsaProblem(modulusLength, publicExponent);
    if (problem !== undefined) {
      discardError();
      return { problem };
    }
    const { n, e, p, q } = numbersOf(key);
    // Flux checks this, and OpenSSL does not.
    if (integer(p) * integer(q) !== integer(n)) return damaged;
    return identityWith('ssh-rsa', positive(e), positive(n));
  }
  if (key.asymmetricKeyType === 'ed25519') return identityWith('ssh-ed25519', numbersOf(key).x);
  if (curve === undefined) return unsupported;
  const ecdh = createECDH(namedCurve);
  ecdh.setPrivateKey(numbersOf(key).d);
  return identityWith(`ecdsa-sha2-${curve}`, Buffer.from(curve), ecdh.getPublicKey());
}

/** Reading a modulus of more than 16,384 bits leaves an error in OpenSSL, which the next call would throw. */
function discardError(): void {
  try {
    createPrivateKey('');
  } catch {}
}

function identityWith(type: string, ...fields: Buffer[]): Identity {
  return { publicKey: { type, blob: Buffer.concat([Buffer.from(type), ...fields].map(sshString)) } };
}

function numbersOf(key: KeyObject) {
  const { n = '', e = '', p = '', q = '', d = '', x = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  return { n: bytes(n), e: bytes(e), p: bytes(p), q: bytes(q), d: bytes(d), x: bytes(x) };
}

const integer = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex') || '0'}`);

/** SSH takes a number whose highest bit is set for a negative one. */
const positive = (bytes: Buffer) => ((bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));

/** OpenSSL uses no larger modulus (OPENSSL_RSA_MAX_MODULUS_BITS), and Go, with which Flux is built, no smaller one. */
const BITS = { least: 1024, most: 16_384 };

/** Go refuses a larger exponent (crypto/rsa, checkKeySize), and a large one makes each signature slow to verify. */
const MAX_EXPONENT = 2n ** 31n - 1n;

function rsaProblem(bits: number, exponent: bigint): string | undefined {
  if (bits < BITS.least || bits > BITS.most)
    return `is an RSA key of ${bits} bits; use one of ${BITS.least} to ${BITS.most} bits`;
  if (exponent < 3n || exponent > MAX_EXPONENT || exponent % 2n === 0n)
    return 'is an RSA key with an unusual public exponent; use one with 65537';
  return undefined;
}

const publicTypes = ['ssh-ed25519', ...Object.values(curves).map((curve) => `ecdsa-sha2-${curve}`), 'ssh-rsa'];

/**
 * Returns why no Git host accepts a public key; undefined when it may.
 * @throws RangeError when the bytes are damaged
 */
export function publicKeyProblem({ type, blob }: PublicKey): string | undefined {
  if (!publicTypes.includes(type)) return unsupported.problem;
  if (type !== 'ssh-rsa') return undefined;
  const reader = sshReader(blob);
  reader.string();
  const exponent = integer(reader.string());
  return rsaProblem(integer(reader.string()).toString(2).length, exponent);
}

const MAGIC = 'openssh-key-v1\0';

/** `ssh-keygen` derives keys with 16 or 24 rounds of bcrypt by default; Flux would need minutes for more than these. */
const MAX_ROUNDS = 10_000;

/**
 * Reads the OpenSSH format, which OpenSSL does not support. It carries the public key unencrypted (PROTOCOL.key of
 * OpenSSH), so a wrong passphrase is not noticed: decrypting the key with `ssh2` takes 17 ms for each round of bcrypt
 * (decision 23).
 * @throws RangeError when the bytes are damaged
 */
function openSshIdentity(bytes: Buffer, passphrase: string | undefined): Identity {
  const reader = sshReader(bytes);
  if (reader.take(MAGIC.length).toString('latin1') !== MAGIC) return damaged;
  const [cipher, derivation] = [reader.string().toString('latin1'), reader.string().toString('latin1')];
  const options = sshReader(reader.string());
  const count = reader.uint32();
  const publicKey = publicKeyOf(reader.string());
  const secret = sshReader(reader.string());
  if (count !== 1 || publicKey === undefined) return damaged;
  const problem = publicKeyProblem(publicKey);
  if (problem !== undefined) return { problem };
  if (derivation === 'bcrypt' && options.string() && options.uint32() > MAX_ROUNDS) {
    return {
      problem: `is encrypted with more than ${MAX_ROUNDS} rounds; encrypt it again with fewer (ssh-keygen -p -a 100)`,
    };
  }
  // `ssh-keygen` reads a passphrase up to the end of a line.
  if (cipher !== 'none' && endsWithLineBreak(passphrase)) return LINE_BREAK;
  if (cipher !== 'none') return passphrase ? { publicKey } : encrypted;
  // Two equal numbers mean that nothing was cut or mistyped.
  const [first, second] = [secret.uint32(), secret.uint32()];
  return first === second && secret.string().toString('latin1') === publicKey.type ? { publicKey } : damaged;
}

/** Some Git hosts reject fewer than 4096 bits. */
const RSA_BITS = 4096;

/**
 * Two RSA keys are generated at a time, the others after them: each takes seconds in one of the four threads that files and
 * the names of all API servers wait for, and a project that deletes its Secret gets a new one each time.
 */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let taken = 0;

/**
 * Generates a private key as PKCS#8 PEM, which Flux reads as `identity`.
 * @throws the signal's reason when it has aborted before it is this key's turn
 */
export async function generateIdentity(
  type: 'ed25519' | 'rsa',
  signal: AbortSignal = AbortSignal.any([]),
): Promise<string> {
  const generate = promisify(generateKeyPair);
  if (type === 'ed25519') return pemOf(await generate('ed25519'));
  const lane = taken++ % lanes.length;
  const pair = (lanes[lane] ?? Promise.resolve()).then(() => {
    signal.throwIfAborted();
    return generate('rsa', { modulusLength: RSA_BITS });
  });
  lanes[lane] = pair.catch(() => {});
  return pemOf(await pair);
}

function pemOf({ privateKey }: KeyPairKeyObjectResult): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
