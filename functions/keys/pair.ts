import { NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/gardener/project-config.ts';
import { type PublicKey, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { keyComment } from './comment.ts';
import type { Situation } from './situation.ts';
import { readIdentity } from './ssh/identity.ts';

/** The data keys of a key pair in the Secret. */
export interface PairNames {
  identity: string;
  publicKey: string;
  /** What becomes of a private key that is removed. */
  removal: string;
}

/** What Flux uses. */
export const CURRENT: PairNames = {
  identity: 'identity',
  publicKey: 'identity.pub',
  removal: 'write a good private key, or remove identity to have one made',
};
/** What a rotation has prepared. */
export const NEXT: PairNames = {
  identity: NEXT_IDENTITY,
  publicKey: NEXT_PUBLIC_KEY,
  removal: `remove ${NEXT_IDENTITY} and ${NEXT_PUBLIC_KEY} to give the rotation up`,
};

/** A pair that makes sense. */
export interface Pair {
  publicKey: PublicKey;
  /** The public line, with its comment. */
  line: string;
  /** The private key as PEM. */
  pem: string;
  /** What the Secret lacks of it. */
  data: Record<string, string>;
}

/** Why what is there is no pair: a clause with the remedy, which quotes nothing. */
export interface Refusal {
  refusal: string;
}

/**
 * The pair under these names, completed from its private key; undefined when there is none.
 * @param made a new private key, for a pair that is not there yet
 */
export function readPair(
  { secret, namespace, landscape }: Situation,
  names: PairNames,
  made: string | undefined,
): Pair | Refusal | undefined {
  const existing = secret?.data[names.identity];
  const shown = secret?.data[names.publicKey];
  if (existing === undefined && shown !== undefined) {
    return {
      refusal: `has ${names.publicKey} without ${names.identity}; write the private key that belongs to it into ${names.identity}, or remove ${names.publicKey}`,
    };
  }
  const pem = existing ?? made;
  if (pem === undefined) return undefined;
  const read = readIdentity(pem, existing === undefined ? undefined : secret?.data.password);
  if ('problem' in read) return { refusal: `${names.identity}: ${read.problem}; ${names.removal}` };
  const { publicKey } = read;
  if (shown !== undefined && parsePublicLine(shown)?.blob.equals(publicKey.blob) !== true) {
    return {
      refusal: `${names.publicKey}: does not belong to ${names.identity}; remove ${names.publicKey} to have it written anew`,
    };
  }
  const line = shown?.trim() ?? publicLine(publicKey, keyComment(namespace, landscape));
  return {
    publicKey,
    line,
    pem,
    data: {
      ...(existing === undefined && { [names.identity]: pem }),
      ...(shown === undefined && { [names.publicKey]: `${line}\n` }),
    },
  };
}
