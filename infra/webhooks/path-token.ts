import { createHash, timingSafeEqual } from 'node:crypto';
import { ShootFluxError } from '../../shared/errors.ts';

/** The environment variable with their hashes. */
export const TOKEN_HASHES = 'WEBHOOK_TOKEN_SHA256';

/** Two are needed while a token is replaced. */
const MOST = 4;

/** Longer than any token that we recommend; nothing longer is hashed. */
const LONGEST = 256;

/** SHA-256 hashes of the tokens that end the path of `clientConfig.url`: a configuration contains no secret. */
export type PathTokens = readonly Buffer[];

/** Reads hashes in hexadecimal, separated by commas. @throws ShootFluxError that names the setting */
export function pathTokensOf(setting: string, text: string): PathTokens {
  const hashes = text.split(',').map((hash) => hash.trim());
  const areHashes = hashes.every((hash) => /^[0-9a-f]{64}$/i.test(hash));
  if (areHashes && hashes.length <= MOST) return hashes.map((hash) => Buffer.from(hash, 'hex'));
  throw new ShootFluxError(
    `${setting} must be the SHA-256 hash of a token, 64 hexadecimal digits, or up to ${MOST} of them with commas between; make one with: openssl rand -hex 32 | tr -d '\\n' | tee token | sha256sum`,
  );
}

/** Returns whether the token is one of them. Takes the same time for every token. */
export function isAllowed(tokens: PathTokens, given: string): boolean {
  if (given.length > LONGEST) return false;
  const hash = createHash('sha256').update(given).digest();
  return tokens.map((token) => timingSafeEqual(token, hash)).includes(true);
}
