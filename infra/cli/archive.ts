import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { quote } from '../../shared/config/quote.ts';
import { errorMessage, fileProblem, ShootFluxError } from '../../shared/errors.ts';
import type { ReleaseFile } from '../../shared/flux/release-files.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { downloadAsset, isUrl } from './from-release.ts';
import { type Option, text, UsageError, type Values } from './option.ts';
import { readUpTo } from './read-file.ts';

export const verifyOptions = {
  sha256: text('HEX', 'make: the SHA-256 that the archive must have.'),
  checksums: text(
    'FILE',
    'make: flux_<version>_checksums.txt of the release, which must list the archive with its SHA-256.',
  ),
  signature: text('FILE', 'make: the signature of --checksums (.sig).'),
  certificate: text('FILE', 'make: the certificate of --signature (.pem).'),
  bundle: text('FILE', 'make: the Sigstore bundle of --checksums, instead of --signature and --certificate.'),
} as const satisfies Record<string, Option>;

/** What an archive is compared with. */
export type Verification = Values<typeof verifyOptions>;

/** @throws UsageError when options do not fit together */
export function verificationOf(values: Verification): Verification {
  const { sha256, checksums, signature, certificate, bundle } = values;
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new UsageError('--sha256 must be the 64 hexadecimal digits of a SHA-256');
  }
  const isSigned = signature !== undefined || certificate !== undefined || bundle !== undefined;
  if (isSigned && checksums === undefined) {
    throw new UsageError('--signature, --certificate and --bundle require --checksums, the file that is signed');
  }
  if ((signature === undefined) !== (certificate === undefined)) {
    throw new UsageError('--signature and --certificate require each other');
  }
  if (bundle !== undefined && signature !== undefined) {
    throw new UsageError('--bundle cannot be combined with --signature');
  }
  return values;
}

/** Returns whether anything is verified. */
export function verifies(verification: Verification): boolean {
  return verification.sha256 !== undefined || verification.checksums !== undefined;
}

/**
 * Compares an archive with what the operator expects, before it is unpacked.
 * @throws ShootFluxError when they differ, or the signature is not that of this Flux release
 */
export async function verifyArchive(
  path: string,
  archive: Buffer,
  version: string,
  verification: Verification,
  cosignTimeoutMs = 60_000,
): Promise<void> {
  const actual = createHash('sha256').update(archive).digest('hex');
  if (verification.sha256 !== undefined) compare(path, actual, verification.sha256.toLowerCase(), '--sha256');
  if (verification.checksums === undefined) return;
  const text = await read(verification.checksums);
  await verifySignature(text, version, verification, cosignTimeoutMs);
  compare(path, actual, listed(text, path, verification.checksums), verification.checksums);
  const release = releaseOf(text);
  if (release === undefined || release === version) return;
  throw new ShootFluxError(
    `${verification.checksums} is of Flux ${release}, but ${version} was asked for; pass the checksums of this release, or its version.`,
  );
}

/** The files of a release do not say which one it is, but the other assets that the checksums list are named by it. */
function releaseOf(checksums: string): string | undefined {
  const version = /^[0-9a-f]{64} [ *]flux_(\d[^_\s]*)_/m.exec(checksums)?.[1];
  return version && `v${version}`;
}

function compare(path: string, actual: string, expected: string, source: string): void {
  if (actual === expected) return;
  throw new ShootFluxError(
    `${path} has the SHA-256 ${actual}, but ${source} says ${expected}; download the archive again, and do not use this one.`,
  );
}

/** Returns the checksum of a file in the output of sha256sum. */
function listed(text: string, path: string, from: string): string {
  const name = basename(path);
  const lines = text.split('\n').map((line) => /^([0-9a-f]{64}) [ *](.+)$/.exec(line.trim()));
  const sums = lines.flatMap((line) => (line?.[2] === name && line[1] !== undefined ? [line[1]] : []));
  if (sums.length === 1 && sums[0] !== undefined) return sums[0];
  throw new ShootFluxError(
    `${from} does not list ${name} exactly once; pass the checksums of the release of this archive.`,
  );
}

async function read(path: string): Promise<string> {
  try {
    const bytes = await readOrDownload(path, 1);
    if (bytes === undefined) throw new Error('larger than 1 MiB');
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof ShootFluxError) throw error;
    throw new ShootFluxError(`cannot read ${path}: ${fileProblem(error)}; pass the checksums file of the release.`);
  }
}

/** Reads a file, or a file of a release that `--from-release` names. @returns undefined for a file of more MiB */
function readOrDownload(path: string, mib: number): Promise<Buffer | undefined> {
  return isUrl(path) ? downloadAsset(path, mib) : readUpTo(path, mib);
}

/** Flux signs the checksums of a release without a key: the certificate names the workflow of the tag. */
const ISSUER = 'https://token.actions.githubusercontent.com';

function identityOf(version: string): string {
  return `^https://github\\.com/fluxcd/flux2/\\.github/workflows/[^@/]+@refs/tags/${version.replaceAll('.', '\\.')}$`;
}

/** The text is passed on standard input, so that cosign verifies what is compared afterwards. */
async function verifySignature(
  text: string,
  version: string,
  verification: Verification,
  timeout: number,
): Promise<void> {
  const { signature, certificate, bundle } = verification;
  const proofs = Object.entries({ bundle, signature, certificate });
  const proof = proofs.flatMap(([name, file]) => (file === undefined ? [] : [`--${name}`, file]));
  if (proof.length === 0) return;
  const identity = ['--certificate-identity-regexp', identityOf(version), '--certificate-oidc-issuer', ISSUER];
  // A program that ignores the signal to end must not hold the command.
  const options = { timeout, maxBuffer: 1024 * 1024, killSignal: 'SIGKILL' } as const;
  const cosign = promisify(execFile)('cosign', ['verify-blob', ...proof, ...identity, '-'], options);
  cosign.child.stdin?.on('error', () => {});
  cosign.child.stdin?.end(text);
  await cosign.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new ShootFluxError('cosign is not installed, so the signature cannot be verified; install cosign.');
    }
    const { killed, code } = error as { killed?: boolean; code?: string };
    if (killed === true && code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
      throw new ShootFluxError(
        `cosign has not ended after ${timeout / 1000} s, so the signature of ${verification.checksums} is not verified; check whether it can reach the servers that it needs, and repeat the command.`,
      );
    }
    throw new ShootFluxError(
      `cosign does not accept the signature of ${verification.checksums} for Flux ${version}: ${lastLine(error)}; download the release again, and do not use these files.`,
    );
  });
}

/** Returns why a program failed, in its own words. */
export function lastLine(error: unknown): string {
  const { stderr } = error as { stderr?: string };
  const line = (stderr?.trim() || errorMessage(error)).trim().split('\n').at(-1) ?? '';
  return safeText(line, 300).replace(/[.;]+$/, '');
}

/** manifests.tar.gz of a release has 60 KB, and 1 MB unpacked. */
const MAX_MIB = { packed: 16, unpacked: 64 } as const;

/** Reads an archive. @throws Error when it is too large */
export async function readArchive(path: string): Promise<Buffer> {
  const archive = await readOrDownload(path, MAX_MIB.packed);
  if (archive === undefined) throw new Error(`the archive is larger than ${MAX_MIB.packed} MiB`);
  return archive;
}

/** Unpacks the YAML files of an archive in memory, sorted by name. @throws Error that says what is wrong with it */
export async function unpack(archive: Buffer): Promise<ReleaseFile[]> {
  const files = (await tarFiles(inflate(archive)))
    .map(({ name, content }) => ({ name: basename(name), text: content.toString('utf8') }))
    .filter(({ name }) => name.endsWith('.yaml'))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const twice = files.find(({ name }, index) => files[index + 1]?.name === name);
  if (twice !== undefined) throw new Error(`the archive has ${quote(twice.name)} twice`);
  return files;
}

/** @throws Error when it is damaged, or unpacks to too much */
export function inflate(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: MAX_MIB.unpacked * 1024 * 1024 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new Error(`the archive unpacks to more than ${MAX_MIB.unpacked} MiB`);
  }
}

/** Returns the files of a tar archive. A release has neither links nor devices. @throws Error with the entry */
export async function tarFiles(archive: Buffer): Promise<{ name: string; content: Buffer }[]> {
  const entries = await unpackTar(archive, { strict: true }).catch((error: unknown) => {
    throw new Error(`the archive is damaged: ${safeText(errorMessage(error), 200).replace(/\.$/, '')}`);
  });
  const strange = entries.find(({ header: { type } }) => type !== 'file' && type !== 'directory');
  if (strange !== undefined) throw new Error(`${quote(strange.header.name)} is neither a file nor a folder`);
  return entries.flatMap(({ header: { name, type }, data }) =>
    type === 'file' ? [{ name, content: Buffer.from(data ?? []) }] : [],
  );
}
