import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { quote } from '../../shared/config/quote.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { fingerprint } from '../../shared/ssh/public-key.ts';
import { type Notice, normal, warning } from './notice.ts';
import { CURRENT, type InvalidPair, NEXT, type Pair, readPair } from './pair.ts';
import {
  FINGERPRINT,
  FORMER_FINGERPRINT,
  NEXT_FINGERPRINT,
  NEXT_PUBLIC_KEY,
  type Need,
  PUBLIC_KEY,
  type Situation,
} from './situation.ts';

/** The two phases of a rotation, named like those of Gardener's own credentials (decision 19). */
export const ROTATE_START = 'rotate-ssh-keypair-start';
export const ROTATE_COMPLETE = 'rotate-ssh-keypair-complete';

/** A phase of a rotation that a user has requested. */
export type Operation = typeof ROTATE_START | typeof ROTATE_COMPLETE;

/** Returns the annotation that requests the operation, as an argument of `kubectl annotate`. */
export const annotationFor = (operation: Operation) => `${OPERATION_ANNOTATION}=${operation}`;

const place = (namespace: string) => `ConfigMap ${namespace}/${FLUX_CONFIG}: annotation ${OPERATION_ANNOTATION}`;

/** Returns the operation that the annotation on `flux-config` requests; any other value is reported and left there. */
export function operationOf(
  namespace: string,
  annotations: Record<string, string> = {},
): { operation?: Operation; notices: Notice[] } {
  const value = annotations[OPERATION_ANNOTATION];
  if (value === undefined) return { notices: [] };
  if (value === ROTATE_START || value === ROTATE_COMPLETE) return { operation: value, notices: [] };
  const supported = `${ROTATE_START} or ${ROTATE_COMPLETE}`;
  return {
    notices: [
      warning('UnknownOperation', `${place(namespace)} has the unknown value ${quote(value)}; use ${supported}.`),
    ],
  };
}

/** Reports that a requested operation was ignored, with the reason and the remedy. */
export function operationRefused(namespace: string, operation: Operation, why: string): Notice {
  const message = `ConfigMap ${namespace}/${FLUX_CONFIG}: ${operation} was ignored: ${why}.`;
  return warning('KeyRotationRefused', message);
}

interface KeyPairsDecision {
  /** Fields of the Secret to write; `null` removes one. */
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
  notices: Notice[];
}

/**
 * Decides about the pair that Flux uses and, between the two phases of a rotation, the prepared one. Existing pairs are
 * never replaced, except that a requested completion replaces the current pair by the prepared one, in one write.
 */
export function decideKeyPairs(situation: Situation): KeyPairsDecision | InvalidPair | { what: Need } {
  const { operation } = situation;
  const prepared = preparedPair(situation);
  if (operation === ROTATE_COMPLETE && isPair(prepared)) return completeRotation(situation, prepared);

  const current = readPair(situation, CURRENT, situation.identity);
  if (current === undefined) return { what: 'identity' };
  if (!isPair(current)) return current;
  if (operation !== ROTATE_START || prepared !== undefined) return keepPairs(situation, current, prepared);
  const next = readPair(situation, NEXT, situation.nextIdentity);
  return next === undefined ? { what: 'nextIdentity' } : keepPairs(situation, current, next);
}

/** Reads the prepared pair. The current key under both names is invalid: its completion would ask to remove that key. */
function preparedPair(situation: Situation): Pair | InvalidPair | undefined {
  const [current, next] = [CURRENT, NEXT].map((names) => readPair(situation, names, undefined));
  const isSame = isPair(current) && isPair(next) && current.publicKey.blob.equals(next.publicKey.blob);
  return isSame ? { problem: `${NEXT.identity} is the same key as ${CURRENT.identity}; ${NEXT.remedy}` } : next;
}

const isPair = (pair: Pair | InvalidPair | undefined): pair is Pair => pair !== undefined && 'pem' in pair;

/** Replaces the current pair by the prepared one, and remembers the former fingerprint so that later runs report it. */
function completeRotation(situation: Situation, { line, pem, publicKey }: Pair): KeyPairsDecision {
  const { secret } = situation;
  const former = readPair(situation, CURRENT, undefined);
  const formerFingerprint = isPair(former)
    ? fingerprint(former.publicKey)
    : (secret?.annotations[FINGERPRINT] ?? 'an unreadable key');
  const current = { publicKey, line, pem, data: {} };
  return {
    data: {
      [CURRENT.identity]: pem,
      [CURRENT.publicKey]: `${line}\n`,
      [NEXT.identity]: null,
      [NEXT.publicKey]: null,
    },
    annotations: annotationsFor(current, undefined, formerFingerprint),
    notices: [
      deployKey(situation, current),
      ...keyTypeIgnored(situation, current),
      rotationCompleted(situation, current, formerFingerprint),
    ],
  };
}

/** Keeps the current pair and, where there is one, the next pair, and completes their public keys and annotations. */
function keepPairs(situation: Situation, current: Pair, next: Pair | InvalidPair | undefined): KeyPairsDecision {
  const remembered = situation.secret?.annotations[FORMER_FINGERPRINT];
  const isRotationOver = next === undefined && remembered !== fingerprint(current.publicKey);
  const former = isRotationOver ? remembered : undefined;
  const isCompletionMissed = next === undefined && situation.operation === ROTATE_COMPLETE;
  return {
    data: { ...current.data, ...(isPair(next) && next.data) },
    annotations: annotationsFor(current, isPair(next) ? next : undefined, former),
    notices: [
      deployKey(situation, current),
      ...(isPair(next)
        ? [rotationPrepared(situation, next), ...nextKeyTypeIgnored(situation, next)]
        : keyTypeIgnored(situation, current)),
      ...(next !== undefined && !isPair(next) ? invalidSecret(situation, next.problem) : []),
      ...(isCompletionMissed ? [nothingToComplete(situation, current, former)] : []),
    ],
  };
}

function annotationsFor(
  current: Pair,
  next: Pair | undefined,
  former: string | undefined,
): KeyPairsDecision['annotations'] {
  return {
    [PUBLIC_KEY]: current.line,
    [FINGERPRINT]: fingerprint(current.publicKey),
    [NEXT_PUBLIC_KEY]: next?.line ?? null,
    [NEXT_FINGERPRINT]: next === undefined ? null : fingerprint(next.publicKey),
    [FORMER_FINGERPRINT]: former ?? null,
  };
}

const annotate = (namespace: string, operation: Operation) =>
  `annotate ConfigMap ${namespace}/${FLUX_CONFIG} with ${annotationFor(operation)}`;

const secretOf = ({ namespace }: Situation) => `Secret ${namespace}/${FLUX_SOURCE}`;

/** Reports that the Secret is invalid and left unchanged, and that a requested operation did not run. */
export function invalidSecret(situation: Situation, problem: string): Notice[] {
  const { namespace, operation } = situation;
  const notice = warning('InvalidSecret', `${secretOf(situation)}: ${problem}.`);
  if (operation === undefined) return [notice];
  const why = `fix ${secretOf(situation)} (see Event InvalidSecret), then set the annotation again`;
  return [notice, operationRefused(namespace, operation, why)];
}

function deployKey({ repository }: Situation, { line, publicKey }: Pair): Notice {
  return normal(
    'DeployKey',
    `Add this public key to ${repository.url} as a deploy key: ${line} (${fingerprint(publicKey)})`,
  );
}

/** The line comes last and the sentence is short, so that an Event that is cut loses only the line's comment. */
function rotationPrepared({ repository }: Situation, { line, publicKey }: Pair): Notice {
  return normal(
    'KeyRotationPrepared',
    `Add deploy key ${fingerprint(publicKey)} to ${repository.url} and annotate this ConfigMap with ${annotationFor(ROTATE_COMPLETE)}: ${line}`,
  );
}

function rotationCompleted({ repository }: Situation, { publicKey }: Pair, former: string): Notice {
  return normal(
    'KeyRotationCompleted',
    `The key ${fingerprint(publicKey)} replaces ${former}; remove the old one from ${repository.url} once Flux has fetched with the new one in every Shoot.`,
  );
}

/**
 * Reports a completion without a prepared pair. After a completion that was killed before it reported, this repeats its
 * notice: both look the same.
 */
function nothingToComplete(situation: Situation, current: Pair, former: string | undefined): Notice {
  if (former !== undefined) return rotationCompleted(situation, current, former);
  const { namespace } = situation;
  const why = `no second key pair is prepared; to prepare one, ${annotate(namespace, ROTATE_START)}`;
  return operationRefused(namespace, ROTATE_COMPLETE, why);
}

/** Reports an RSA key that was requested too late. Ed25519 may just be the default, so another type is fine then. */
function keyTypeIgnored(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  if (situation.repository.sshKeyType !== 'rsa' || type === types.rsa) return [];
  const problem = `sshKeyType rsa has no effect yet: the existing key is ${type}`;
  const remedy = `to replace it, ${annotate(situation.namespace, ROTATE_START)}`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: ${problem}; ${remedy}.`)];
}

/** Reports a prepared pair of another type: the configuration changed since, or the user provided the pair. */
function nextKeyTypeIgnored(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  const { sshKeyType } = situation.repository;
  if (type === types[sshKeyType]) return [];
  const problem = `${NEXT.identity} is a key of type ${type}, but sshKeyType is ${sshKeyType}`;
  const remedy = `to replace it, remove ${NEXT.identity} and ${NEXT.publicKey} and start the rotation again`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: ${problem}; ${remedy}.`)];
}

const types = { ed25519: 'ssh-ed25519', rsa: 'ssh-rsa' } as const;
