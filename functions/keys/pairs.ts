import type { Repository } from '../../shared/config/flux-config.ts';
import {
  FINGERPRINT,
  FLUX_CONFIG,
  FLUX_SOURCE,
  FORMER_FINGERPRINT,
  NEXT_FINGERPRINT,
  NEXT_IDENTITY,
  NEXT_LINE,
  NEXT_PUBLIC_KEY,
  PUBLIC_KEY,
  ROTATE_COMPLETE,
  ROTATE_START,
} from '../../shared/config/project-config.ts';
import { quote } from '../../shared/config/quote.ts';
import { encodingProblem } from '../../shared/config/secret-values.ts';
import { type Notice, normal, warning } from '../../shared/gardener/event.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { gitHost } from '../../shared/ssh/git-hosts.ts';
import { readIdentity } from '../../shared/ssh/identity.ts';
import { fingerprint, type PublicKey, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';

/** Everything known about a private repository that Flux reads over SSH. */
export interface Situation {
  namespace: string;
  landscape: string;
  repository: Repository;
  /** The operation that the annotation on `flux-config` requests. */
  operation?: Operation | undefined;
  /** The existing Secret, its content as text; absent when there is none. */
  secret?: { data: Record<string, string>; annotations: Record<string, string>; immutable: boolean } | undefined;
  /** True: the operator does not permit `knownHosts: scan`. */
  isScanOff?: boolean | undefined;
}

/** The fields of the Secret to write; `null` removes one. */
export interface SecretChange {
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

/** A phase of a rotation that a user has requested. */
export type Operation = typeof ROTATE_START | typeof ROTATE_COMPLETE;

/** Returns the annotation that requests the operation, as an argument of `kubectl annotate`. */
export const annotationFor = (operation: Operation) => `${OPERATION_ANNOTATION}=${operation}`;

/** Returns the operation that the annotation on `flux-config` requests; any other value is reported and left there. */
export function operationOf(
  namespace: string,
  annotations: Record<string, string> = {},
): { operation?: Operation; notices: Notice[] } {
  const value = annotations[OPERATION_ANNOTATION];
  if (value === undefined) return { notices: [] };
  if (value === ROTATE_START || value === ROTATE_COMPLETE) return { operation: value, notices: [] };
  const place = `ConfigMap ${namespace}/${FLUX_CONFIG}: annotation ${OPERATION_ANNOTATION}`;
  const message = `${place} has the unknown value ${quote(value)}; use ${ROTATE_START} or ${ROTATE_COMPLETE}.`;
  return { notices: [warning('UnknownOperation', message)] };
}

/** Reports that a requested operation was ignored, with the reason and the remedy. */
export function operationRefused(namespace: string, operation: Operation, why: string): Notice {
  const message = `ConfigMap ${namespace}/${FLUX_CONFIG}: ${operation} was ignored: ${why}.`;
  return warning('KeyRotationRefused', message);
}

interface KeyPairsDecision extends SecretChange {
  notices: Notice[];
}

/**
 * Decides about the pair that Flux uses and, between the two phases of a rotation, the prepared one. Existing pairs are
 * never replaced, except that a requested completion replaces the current pair by the prepared one, in one write.
 * @param newIdentity generates a private key, which takes seconds
 */
export async function decideKeyPairs(
  situation: Situation,
  newIdentity: () => Promise<string>,
): Promise<KeyPairsDecision | InvalidPair> {
  const { operation } = situation;
  const prepared = preparedPair(situation);
  if (operation === ROTATE_COMPLETE && isPair(prepared)) return completeRotation(situation, prepared);

  const current = readPair(situation, CURRENT) ?? newPair(situation, CURRENT, await newIdentity());
  if (!isPair(current)) return current;
  if (operation !== ROTATE_START || prepared !== undefined) return keepPairs(situation, current, prepared);
  return keepPairs(situation, current, newPair(situation, NEXT, await newIdentity()));
}

/** Reads the prepared pair. The current key under both names is invalid: its completion would ask to remove that key. */
function preparedPair(situation: Situation): Pair | InvalidPair | undefined {
  const [current, next] = [CURRENT, NEXT].map((names) => readPair(situation, names));
  const isSame = isPair(current) && isPair(next) && current.publicKey.blob.equals(next.publicKey.blob);
  return isSame ? { problem: `${NEXT.identity} is the same key as ${CURRENT.identity}; ${NEXT.remedy}` } : next;
}

const isPair = (pair: Pair | InvalidPair | undefined): pair is Pair => pair !== undefined && 'pem' in pair;

/** Replaces the current pair by the prepared one, and remembers the former fingerprint so that later runs report it. */
function completeRotation(situation: Situation, { line, pem, publicKey }: Pair): KeyPairsDecision {
  const { secret } = situation;
  const former = readPair(situation, CURRENT);
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
      ...deployKey(situation, current),
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
      ...deployKey(situation, current),
      ...(isPair(next)
        ? [...rotationPrepared(situation, next), ...nextKeyTypeIgnored(situation, next)]
        : keyTypeIgnored(situation, current)),
      ...(next !== undefined && !isPair(next) ? invalidSecret(situation, next.problem) : []),
      ...(isCompletionMissed ? [nothingToComplete(situation, current, former)] : []),
    ],
  };
}

function annotationsFor(current: Pair, next: Pair | undefined, former: string | undefined) {
  return {
    [PUBLIC_KEY]: current.line,
    [FINGERPRINT]: fingerprint(current.publicKey),
    [NEXT_LINE]: next?.line ?? null,
    [NEXT_FINGERPRINT]: next === undefined ? null : fingerprint(next.publicKey),
    [FORMER_FINGERPRINT]: former ?? null,
  };
}

/** The keys in the Secret's data that hold one key pair. */
interface PairNames {
  identity: string;
  publicKey: string;
  /** How the user repairs an invalid private key. */
  remedy: string;
}

const CURRENT: PairNames = {
  identity: 'identity',
  publicKey: 'identity.pub',
  remedy: 'replace it with a valid private key, or remove identity to have a new key pair generated',
};
const NEXT: PairNames = {
  identity: NEXT_IDENTITY,
  publicKey: NEXT_PUBLIC_KEY,
  remedy: `remove ${NEXT_IDENTITY} and ${NEXT_PUBLIC_KEY} to cancel the rotation`,
};

/** The line becomes an annotation and an Event, where nothing may follow the key that the user did not mean to publish. */
const PRINTABLE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]{0,16000}$/u;

interface Pair {
  publicKey: PublicKey;
  /** The public key as one line, with its comment. */
  line: string;
  /** The private key as PEM. */
  pem: string;
  /** The parts that the Secret does not have yet. */
  data: Record<string, string>;
}

/** Why the existing data is not a key pair, with the remedy: a clause that quotes no content. */
interface InvalidPair {
  problem: string;
}

/** Reads the pair under these names, and derives a missing public key from the private one; undefined: there is none. */
function readPair(situation: Situation, names: PairNames): Pair | InvalidPair | undefined {
  const { data = {} } = situation.secret ?? {};
  const [pem, line] = [data[names.identity], data[names.publicKey]?.trim()];
  if (pem !== undefined) return pairOf(situation, names, pem, line, data.password);
  if (line === undefined) return undefined;
  return {
    problem: `has ${names.publicKey} but no ${names.identity}; add the matching private key as ${names.identity}, or remove ${names.publicKey}`,
  };
}

function newPair(situation: Situation, names: PairNames, pem: string): Pair | InvalidPair {
  const pair = pairOf(situation, names, pem);
  return isPair(pair) ? { ...pair, data: { [names.identity]: pem, ...pair.data } } : pair;
}

function pairOf(
  { namespace, landscape }: Situation,
  names: PairNames,
  pem: string,
  existingLine?: string,
  passphrase?: string,
): Pair | InvalidPair {
  const encoding = encodingProblem(pem);
  if (encoding !== undefined) return { problem: `${names.identity} ${encoding}` };
  const read = readIdentity(pem, passphrase);
  if ('problem' in read) return { problem: `${names.identity} ${read.problem}; ${read.remedy ?? names.remedy}` };
  const { publicKey } = read;
  const remedy = `remove ${names.publicKey} to have it derived again`;
  if (existingLine !== undefined && !PRINTABLE_LINE.test(existingLine)) {
    return { problem: `${names.publicKey} is not one line of at most 16,000 characters; ${remedy}` };
  }
  if (existingLine !== undefined && parsePublicLine(existingLine)?.blob.equals(publicKey.blob) !== true) {
    return { problem: `${names.publicKey} does not match ${names.identity}; ${remedy}` };
  }
  const line = existingLine ?? publicLine(publicKey, keyComment(namespace, landscape));
  return { publicKey, line, pem, data: existingLine === undefined ? { [names.publicKey]: `${line}\n` } : {} };
}

/** Returns the comment that Git hosts show next to the key. It has no white space, because some of them cut there. */
export function keyComment(namespace: string, landscape: string): string {
  // Gardener names the namespace of a project like this unless the project chose another name.
  const project = namespace.replace(/^garden-(?=.)/, '');
  return `shoot-flux/${landscape.trim().replace(/\s+/g, '-')}/${project}`;
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

/** Returns where the host keeps public keys; undefined where it does not take this one, which another notice says. */
function placeOfKey({ repository: { url } }: Situation, { publicKey: { type } }: Pair): string | undefined {
  const { keyType, at } = gitHost(url);
  return keyType === undefined || type === types[keyType] ? at(url, 'repositoryUrl') : undefined;
}

function deployKey(situation: Situation, pair: Pair): Notice[] {
  const place = placeOfKey(situation, pair);
  if (place === undefined) return [];
  return [normal('DeployKey', `Add this public key ${place}: ${pair.line} (${fingerprint(pair.publicKey)})`)];
}

/** The line comes last and the sentence is short, so that an Event that is cut loses only the line's comment. */
function rotationPrepared(situation: Situation, pair: Pair): Notice[] {
  const place = placeOfKey(situation, pair);
  if (place === undefined) return [];
  const annotation = annotationFor(ROTATE_COMPLETE);
  const message = `Add key ${fingerprint(pair.publicKey)} ${place} and annotate this ConfigMap with ${annotation}: ${pair.line}`;
  return [normal('KeyRotationPrepared', message)];
}

function rotationCompleted({ repository }: Situation, { publicKey }: Pair, former: string): Notice {
  return normal(
    'KeyRotationCompleted',
    `The key ${fingerprint(publicKey)} replaces ${former}; remove the old one from ${gitHost(repository.url).name ?? repository.url} once Flux has fetched with the new one in every Shoot.`,
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

/** Why the key pair has to be of a type. */
function typeReason({ repository: { url, sshKeyType } }: Situation): string {
  const { name, keyType } = gitHost(url);
  return keyType === undefined ? `sshKeyType is ${sshKeyType}` : `${name} takes RSA keys only`;
}

/** Reports a key of a type that was not wanted yet. Ed25519 may just be the default, so another type is fine then. */
function keyTypeIgnored(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  if (situation.repository.sshKeyType !== 'rsa' || type === types.rsa) return [];
  const problem = `${typeReason(situation)}, but the existing key is ${type}`;
  const remedy = `to replace it, ${annotate(situation.namespace, ROTATE_START)}`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: ${problem}; ${remedy}.`)];
}

/** Reports a prepared pair of another type: the configuration changed since, or the user provided the pair. */
function nextKeyTypeIgnored(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  const { sshKeyType } = situation.repository;
  if (type === types[sshKeyType]) return [];
  const problem = `${NEXT.identity} is a key of type ${type}, but ${typeReason(situation)}`;
  const remedy = `to replace it, remove ${NEXT.identity} and ${NEXT.publicKey} and start the rotation again`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: ${problem}; ${remedy}.`)];
}

const types = { ed25519: 'ssh-ed25519', rsa: 'ssh-rsa' } as const;
