import type { Amount } from '../../config/document-types.ts';
import { CONTINUE } from '../../config/project-config.ts';
import {
  isPaused,
  isUnderWay,
  LONGEST_STATE,
  MOST_FAILED,
  MOST_IN_PROGRESS,
  MOST_WAITING,
  mostFailed,
  type RolloutState,
} from './state.ts';

/** The keys of `flux-status` about the rollout; no Shoot has capital letters in its name. */
export const ROLLOUT_TEXT = 'Rollout';
export const ROLLOUT_STATE = 'RolloutState';

/** Returns the state and what members read about it, as keys of `flux-status`. */
export function rolloutData(state: RolloutState, shoots: number): Record<string, string> {
  return { [ROLLOUT_TEXT]: rolloutText(state, shoots), [ROLLOUT_STATE]: stateText(state) };
}

/** So many failed Shoots are named; their lines say what is wrong. */
const NAMED = 5;

/** Says how far a rollout has come, for members of the project. */
export function rolloutText(state: RolloutState, shoots: number): string {
  const { revision, done, waiting, inProgress, failed } = state;
  const waits = waiting.size >= MOST_WAITING ? `at least ${MOST_WAITING}` : waiting.size;
  const counts = `${done} done, ${inProgress.size} in progress, ${waits} waiting, ${failed.size} failed`;
  const names = [...failed].slice(0, NAMED).join(', ');
  const listed = failed.size === 0 ? '' : ` (${names}${failed.size > NAMED ? ', …' : ''})`;
  if (isPaused(state, shoots)) {
    const token = tokenOf(state);
    const limit = mostFailed(state, shoots) + state.accepted;
    return `Revision ${revision} is paused, because more than ${limit} failed: ${counts}${listed}. It continues when they are Ready, or with the annotation ${CONTINUE}=${token} on flux-config.`;
  }
  return `Revision ${revision} ${isUnderWay(state) ? 'is under way' : 'has ended'}: ${counts}${listed}.`;
}

/** A request counts once, so the next one has another value, also where as many Shoots have failed as before. */
function tokenOf({ revision, failed, continued }: RolloutState): string {
  const token = `${revision}.${failed.size}`;
  return token === continued ? `${token}.again` : token;
}

const VERSION = 1;

/** Returns a state as text. */
export function stateText({ waiting, inProgress, failed, ...rest }: RolloutState): string {
  return JSON.stringify({
    version: VERSION,
    ...rest,
    waiting: [...waiting].map(([shoot, { order, seen }]) => [shoot, order ?? null, seen]),
    inProgress: [...inProgress].map(([shoot, { order, since, wasNotReady }]) => [
      shoot,
      order ?? null,
      since,
      wasNotReady ? 1 : 0,
    ]),
    failed: [...failed],
  });
}

/** The name of an object in a namespace, which is also a key of a ConfigMap. */
const SHOOT_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const REVISION = /^[0-9a-f]{12}$/;

/** Reads a state; undefined: the text is none of ours. Members of the project may have edited it. */
export function readState(text: unknown): RolloutState | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_STATE) return undefined;
  try {
    return stateOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @throws Error when a part is not what we write */
function stateOf(value: unknown): RolloutState {
  const { version, revision, began, limits, done, accepted, continued, ...lists } = value as Record<string, unknown>;
  const { maxInProgress, maxFailed } = limits as Record<string, unknown>;
  check(version === VERSION && typeof revision === 'string' && REVISION.test(revision));
  check(continued === undefined || (typeof continued === 'string' && continued.length <= LONGEST_TOKEN));
  return {
    revision: revision as string,
    began: numberOf(began),
    limits: { maxInProgress: amountOf(maxInProgress), maxFailed: amountOf(maxFailed) },
    done: numberOf(done),
    waiting: new Map(
      rowsOf(lists.waiting, MOST_WAITING).map(([shoot, order, seen]) => [
        nameOf(shoot),
        { order: orderOf(order), seen: numberOf(seen) },
      ]),
    ),
    inProgress: new Map(
      rowsOf(lists.inProgress, MOST_IN_PROGRESS).map(([shoot, order, since, wasNotReady]) => [
        nameOf(shoot),
        { order: orderOf(order), since: numberOf(since), wasNotReady: wasNotReady === 1 },
      ]),
    ),
    failed: new Set(listOf(lists.failed, MOST_FAILED).map(nameOf)),
    accepted: numberOf(accepted),
    continued: continued as string | undefined,
  };
}

/** A longer request to continue is not read. */
export const LONGEST_TOKEN = 63;

function check(isTrue: boolean): void {
  if (!isTrue) throw new Error('this is not the state of a rollout');
}

function numberOf(value: unknown): number {
  check(typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
  return value as number;
}

function amountOf(value: unknown): Amount {
  if (typeof value === 'string') check(/^\d{1,3}%$/.test(value));
  else numberOf(value);
  return value as Amount;
}

function nameOf(value: unknown): string {
  check(typeof value === 'string' && SHOOT_NAME.test(value));
  return value as string;
}

/** The value of a label. */
function orderOf(value: unknown): string | undefined {
  check(value === null || (typeof value === 'string' && value.length <= 63));
  return (value as string | null) ?? undefined;
}

function listOf(value: unknown, most: number): unknown[] {
  check(Array.isArray(value) && value.length <= most);
  return value as unknown[];
}

function rowsOf(value: unknown, most: number): unknown[][] {
  const rows = listOf(value, most);
  check(rows.every((row) => Array.isArray(row)));
  return rows as unknown[][];
}
