import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type Option, text, UsageError, type Values } from './option.ts';

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
    `${verification.checksums} is of Flux ${release}, but --version says ${version}; pass the version of this release.`,
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

const MAX_CHECKSUMS = 1024 * 1024;

async function read(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > MAX_CHECKSUMS) throw new Error('larger than 1 MiB');
    return bytes.toString('utf8');
  } catch (error) {
    throw new ShootFluxError(`cannot read ${path}: ${fileProblem(error)}; pass the checksums file of the release.`);
  }
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

function lastLine(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  const line = stderr.trim().split('\n').at(-1) || errorMessage(error);
  return safeText(line, 300).replace(/[.;]+$/, '');
}
