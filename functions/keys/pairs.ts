import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { fingerprint } from '../../shared/ssh/public-key.ts';
import { FINGERPRINT, FORMER_FINGERPRINT, NEXT_FINGERPRINT, NEXT_PUBLIC_KEY, PUBLIC_KEY } from './annotations.ts';
import { type Notice, normal, warning } from './notice.ts';
import { asked, ROTATE_COMPLETE, ROTATE_START, refused } from './operation.ts';
import { CURRENT, NEXT, type Pair, type Refusal, readPair } from './pair.ts';
import type { Need, Situation } from './situation.ts';

/** What the Secret should have of the key pairs. */
export interface PairsPart {
  /** `null`: goes. */
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
  notices: Notice[];
}

/**
 * The pair that Flux uses, and beside it the one of a rotation between its two phases. Whatever is there is never
 * replaced, but for the used one by the prepared one, in one write, when that is asked for.
 */
export function pairsPart(situation: Situation): PairsPart | Refusal | { what: Need } {
  const { operation } = situation;
  const prepared = preparedPair(situation);
  if (operation === ROTATE_COMPLETE && isPair(prepared)) return completed(situation, prepared);

  const current = readPair(situation, CURRENT, situation.identity);
  if (current === undefined) return { what: 'identity' };
  if (!isPair(current)) return current;
  if (operation !== ROTATE_START || prepared !== undefined) return besides(situation, current, prepared);
  const next = readPair(situation, NEXT, situation.next);
  return next === undefined ? { what: 'next' } : besides(situation, current, next);
}

/** What is there already. Whoever completed a rotation to the key that is used would be told to remove it. */
function preparedPair(situation: Situation): Pair | Refusal | undefined {
  const [current, next] = [CURRENT, NEXT].map((names) => readPair(situation, names, undefined));
  const isSame = isPair(current) && isPair(next) && current.publicKey.blob.equals(next.publicKey.blob);
  return isSame ? { refusal: `${NEXT.identity}: is the same key as ${CURRENT.identity}; ${NEXT.removal}` } : next;
}

const isPair = (pair: Pair | Refusal | undefined): pair is Pair => pair !== undefined && 'pem' in pair;

/** The prepared pair takes the place of the used one, which is remembered by its fingerprint, for later runs to tell it. */
function completed(situation: Situation, { line, pem, publicKey }: Pair): PairsPart {
  const { secret } = situation;
  const former = readPair(situation, CURRENT, undefined);
  const mark = isPair(former)
    ? fingerprint(former.publicKey)
    : (secret?.annotations[FINGERPRINT] ?? 'an unreadable one');
  const used = { publicKey, line, pem, data: {} };
  return {
    data: {
      [CURRENT.identity]: pem,
      [CURRENT.publicKey]: `${line}\n`,
      [NEXT.identity]: null,
      [NEXT.publicKey]: null,
    },
    annotations: annotations(used, undefined, mark),
    notices: [deployKey(situation, used), ...keyType(situation, used), replaced(situation, used, mark)],
  };
}

/** The pairs as they are; `next` is what is beside the used one. */
function besides(situation: Situation, current: Pair, next: Pair | Refusal | undefined): PairsPart {
  const remembered = situation.secret?.annotations[FORMER_FINGERPRINT];
  const isOver = next === undefined && remembered !== fingerprint(current.publicKey);
  const former = isOver ? remembered : undefined;
  return {
    data: { ...current.data, ...(isPair(next) && next.data) },
    annotations: annotations(current, isPair(next) ? next : undefined, former),
    notices: [
      deployKey(situation, current),
      ...(isPair(next) ? [prepared(situation, next), ...nextKeyType(situation, next)] : keyType(situation, current)),
      ...(next !== undefined && !isPair(next) ? invalid(situation, next.refusal) : []),
      ...(next === undefined && situation.operation === ROTATE_COMPLETE ? [nothing(situation, current, former)] : []),
    ],
  };
}

function annotations(current: Pair, next: Pair | undefined, former: string | undefined): PairsPart['annotations'] {
  return {
    [PUBLIC_KEY]: current.line,
    [FINGERPRINT]: fingerprint(current.publicKey),
    [NEXT_PUBLIC_KEY]: next?.line ?? null,
    [NEXT_FINGERPRINT]: next === undefined ? null : fingerprint(next.publicKey),
    [FORMER_FINGERPRINT]: former ?? null,
  };
}

const secretOf = ({ namespace }: Situation) => `Secret ${namespace}/${FLUX_SOURCE}`;

/** The Secret holds something that makes no sense, and is left as it is. */
export function invalid(situation: Situation, problem: string): Notice[] {
  const { namespace, operation } = situation;
  const notice = warning('InvalidSecret', `${secretOf(situation)}: ${problem}.`);
  if (operation === undefined) return [notice];
  const remedy = `${secretOf(situation)} has to be mended first, as Event InvalidSecret says; then annotate again`;
  return [notice, refused(namespace, operation, remedy)];
}

function deployKey({ repository }: Situation, { line, publicKey }: Pair): Notice {
  return normal(
    'DeployKey',
    `Add this public key to ${repository.url} as a deploy key: ${line} (${fingerprint(publicKey)})`,
  );
}

/** The line comes last: where an Event is cut, only its comment is lost. */
function prepared({ repository }: Situation, { line, publicKey }: Pair): Notice {
  return normal(
    'KeyRotationPrepared',
    `Add ${fingerprint(publicKey)} to ${repository.url} as a second deploy key, then annotate with ${asked(ROTATE_COMPLETE)}: ${line}`,
  );
}

function replaced({ repository }: Situation, { publicKey }: Pair, former: string): Notice {
  return normal(
    'KeyRotationCompleted',
    `The key ${fingerprint(publicKey)} is used instead of ${former}, which may be removed from ${repository.url} when Flux has fetched with the new one in every Shoot.`,
  );
}

/** A completion that was cut off before it was told looks like one that comes too late: both are told the same. */
function nothing(situation: Situation, current: Pair, former: string | undefined): Notice {
  if (former !== undefined) return replaced(situation, current, former);
  const remedy = `no second key pair is prepared; annotate with ${asked(ROTATE_START)} to have one made`;
  return refused(situation.namespace, ROTATE_COMPLETE, remedy);
}

/** Ed25519 may just be the default, and is not missed where there is a key of another type. */
function keyType(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  if (situation.repository.sshKeyType !== 'rsa' || type === types.rsa) return [];
  const remedy = `annotate ConfigMap ${situation.namespace}/${FLUX_CONFIG} with ${asked(ROTATE_START)} to have it rotated`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: already has a key of type ${type}; ${remedy}.`)];
}

/** The configuration has changed since the pair was prepared, or the pair is the user's own. */
function nextKeyType(situation: Situation, { publicKey: { type } }: Pair): Notice[] {
  const { sshKeyType } = situation.repository;
  if (type === types[sshKeyType]) return [];
  const other = `${NEXT.identity} is a key of type ${type}, and sshKeyType says ${sshKeyType}`;
  const remedy = `to have another one made, remove ${NEXT.identity} and ${NEXT.publicKey} and start again`;
  return [warning('KeyTypeIgnored', `${secretOf(situation)}: ${other}; ${remedy}.`)];
}

const types = { ed25519: 'ssh-ed25519', rsa: 'ssh-rsa' } as const;
