import { NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/config/project-config.ts';
import { type PublicKey, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { readIdentity } from './identity.ts';
import type { Situation } from './situation.ts';

/** The keys in the Secret's data that hold one key pair. */
export interface PairNames {
  identity: string;
  publicKey: string;
  /** How the user repairs an invalid private key. */
  remedy: string;
}

/** The pair that Flux uses. */
export const CURRENT: PairNames = {
  identity: 'identity',
  publicKey: 'identity.pub',
  remedy: 'replace it with a valid private key, or remove identity to have a new key pair generated',
};
/** The pair that a rotation has prepared. */
export const NEXT: PairNames = {
  identity: NEXT_IDENTITY,
  publicKey: NEXT_PUBLIC_KEY,
  remedy: `remove ${NEXT_IDENTITY} and ${NEXT_PUBLIC_KEY} to cancel the rotation`,
};

/** The line becomes an annotation and an Event, where nothing may follow the key that the user did not mean to publish. */
const PRINTABLE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]{0,16000}$/u;

/** A valid key pair. */
export interface Pair {
  publicKey: PublicKey;
  /** The public key as one line, with its comment. */
  line: string;
  /** The private key as PEM. */
  pem: string;
  /** The parts that the Secret does not have yet. */
  data: Record<string, string>;
}

/** Why the existing data is not a key pair, with the remedy: a clause that quotes no content. */
export interface InvalidPair {
  problem: string;
}

/**
 * Reads the pair under these names and derives a missing public key from the private one; undefined when there is no
 * pair.
 * @param generated a new private key, used when the Secret has none
 */
export function readPair(
  { secret, namespace, landscape }: Situation,
  names: PairNames,
  generated: string | undefined,
): Pair | InvalidPair | undefined {
  const existing = secret?.data[names.identity];
  const existingLine = secret?.data[names.publicKey];
  if (existing === undefined && existingLine !== undefined) {
    return {
      problem: `has ${names.publicKey} but no ${names.identity}; add the matching private key as ${names.identity}, or remove ${names.publicKey}`,
    };
  }
  const pem = existing ?? generated;
  if (pem === undefined) return undefined;
  const read = readIdentity(pem, existing === undefined ? undefined : secret?.data.password);
  if ('problem' in read) return { problem: `${names.identity} ${read.problem}; ${names.remedy}` };
  const { publicKey } = read;
  if (existingLine !== undefined && !PRINTABLE_LINE.test(existingLine.trim())) {
    return {
      problem: `${names.publicKey} is not one line of at most 16,000 characters; remove ${names.publicKey} to have it derived again`,
    };
  }
  if (existingLine !== undefined && parsePublicLine(existingLine)?.blob.equals(publicKey.blob) !== true) {
    return {
      problem: `${names.publicKey} does not match ${names.identity}; remove ${names.publicKey} to have it derived again`,
    };
  }
  const line = existingLine?.trim() ?? publicLine(publicKey, keyComment(namespace, landscape));
  return {
    publicKey,
    line,
    pem,
    data: {
      ...(existing === undefined && { [names.identity]: pem }),
      ...(existingLine === undefined && { [names.publicKey]: `${line}\n` }),
    },
  };
}

/** Returns the comment that Git hosts show next to the key. It has no white space, because some of them cut there. */
export function keyComment(namespace: string, landscape: string): string {
  return `shoot-flux/${landscape.trim().replace(/\s+/g, '-')}/${projectOf(namespace)}`;
}

/** Returns the project's name: Gardener names its namespace `garden-<project>` unless the project chose another one. */
function projectOf(namespace: string): string {
  return namespace.replace(/^garden-(?=.)/, '');
}
