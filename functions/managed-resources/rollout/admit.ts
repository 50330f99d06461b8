import type { Rollout } from '../../../shared/config/rollout.ts';
import {
  compareOrder,
  isPaused,
  isUnderWay,
  LONGEST_TOKEN,
  MOST_WAITING,
  mostInProgress,
  type RolloutState,
  stateAt,
} from '../../../shared/gardener/rollout.ts';

/** A Shoot that is to be changed, and what decides whether it is its turn. */
export interface Candidate {
  shoot: string;
  /** What `flux-config` says now. */
  revision: string;
  rollout: Rollout;
  /** The value of the label that orders the Shoots. */
  order: string | undefined;
  /** False: it was not Ready before. */
  isReady: boolean;
  /** Seconds until it may begin, because of its maintenance window; 0 within it. */
  untilWindow: number;
  /** How many Shoots the project has. */
  shoots: number;
  /** Those whose line in `flux-status` says that they are Ready. */
  ready: ReadonlySet<string>;
  /** The annotation with which a member continues. */
  continued: string | undefined;
  /** True: the Shoot has the revision already, and changes because of the operators. */
  isAgain?: boolean | undefined;
  /** What the operators give it then, so that their next change is another rollout. */
  landscape?: string | undefined;
  /** Seconds from the last change of a Shoot until the next value of the order may begin. Absent: none. */
  pause?: number | undefined;
  /** Seconds since 1970. */
  now: number;
}

/** With an order, no Shoot begins before so many seconds, at least: the first ones have to be known. */
const GATHER_SECONDS = 60;

/** So many Shoots of a large project hear of an edit in a second, with some reserve (docs/scale.md). */
const SHOOTS_PER_SECOND = 20;

/** Returns how many seconds after an edit the first Shoots of an order are known. */
export function secondsToGather(shoots: number): number {
  return Math.max(GATHER_SECONDS, Math.ceil(shoots / SHOOTS_PER_SECOND));
}

/** A Shoot that waits is noted again when it was seen so long ago. */
const SEEN_AGAIN_SECONDS = 900;

/**
 * Decides whether it is a Shoot's turn, from the state that all Shoots of the project share. Only its run takes its
 * place.
 * @param live undefined: there is none, or it cannot be read
 * @returns also the state that has to be written before the decision counts
 */
export function admit(
  live: RolloutState | undefined,
  candidate: Candidate,
): { isAdmitted: boolean; state: RolloutState } {
  const { shoot, now, ready } = candidate;
  const state = continuedBy(stateAt(begun(live, candidate), now, ready), candidate.continued);
  // Its place is kept from one edit to the next.
  if (state.inProgress.has(shoot)) {
    return { isAdmitted: true, state: state.waiting.has(shoot) ? { ...state, waiting: without(state, shoot) } : state };
  }
  if (!isItsTurn(state, candidate)) return { isAdmitted: false, state: { ...state, waiting: noted(state, candidate) } };
  const { order, isReady } = candidate;
  const wasNotReady = !isReady && !state.failed.has(shoot);
  const inProgress = new Map(state.inProgress).set(shoot, { order, since: now, wasNotReady });
  const reached = candidate.pause === undefined ? undefined : { order: furthest(state.reached, order), at: now };
  return { isAdmitted: true, state: { ...state, inProgress, waiting: without(state, shoot), reached } };
}

/** Returns the later one of two values of the order. */
function furthest(reached: RolloutState['reached'], order: string | undefined): string | undefined {
  return reached === undefined || compareOrder(order, reached.order) > 0 ? order : reached.order;
}

/** Returns the state of this revision. Places and failures of a rollout that has not ended count for the next one, too. */
export function begun(
  live: RolloutState | undefined,
  candidate: Pick<Candidate, 'revision' | 'rollout' | 'now' | 'ready' | 'continued' | 'isAgain' | 'landscape'>,
): RolloutState {
  const { revision, rollout, now, ready, continued, isAgain = false } = candidate;
  const landscape = isAgain ? candidate.landscape : live?.landscape;
  const { maxInProgress, maxFailed } = rollout;
  const limits = { maxInProgress, maxFailed };
  const isContinuing = live !== undefined && isUnderWay(stateAt(live, now, ready));
  // The landscape lets its Shoots begin one by one, so that between two of them none may be under way.
  const isSame = isContinuing || !isAgain || live?.landscape === landscape;
  if (live?.revision === revision && isSame) return { ...live, limits, landscape };
  return {
    ...{ revision, landscape, began: now, limits, done: 0 },
    waiting: new Map(),
    inProgress: isContinuing ? live.inProgress : new Map(),
    failed: isContinuing ? live.failed : new Set(),
    // A request that is there before its rollout is about an earlier one of the same revision.
    ...{ accepted: 0, continued: isRequestFor(revision, continued) ? continued : undefined },
  };
}

function isRequestFor(revision: string, token = ''): boolean {
  return token.split('.')[0] === revision && token.length <= LONGEST_TOKEN;
}

/** A member accepts the failures so far; a repeated request is none. */
function continuedBy(state: RolloutState, token: string | undefined): RolloutState {
  const accepted = Math.min(state.accepted, state.failed.size);
  const isNew = token !== state.continued && isRequestFor(state.revision, token);
  return isNew ? { ...state, accepted: state.failed.size, continued: token } : { ...state, accepted };
}

function isItsTurn(state: RolloutState, candidate: Candidate): boolean {
  const { shoot, rollout, order, untilWindow, shoots, now, pause } = candidate;
  if (untilWindow > 0 || state.inProgress.size >= mostInProgress(state, shoots)) return false;
  // A Shoot that has failed can only win by the next edit.
  if (state.failed.has(shoot)) return true;
  if (isPaused(state, shoots)) return false;
  if (rollout.order === undefined) return true;
  if (pause === undefined ? now - state.began < secondsToGather(shoots) : isPausing(state, order, now, pause))
    return false;
  const others = [...state.waiting, ...state.inProgress].filter(([name]) => name !== shoot);
  return others.every(([, other]) => compareOrder(order, other.order) <= 0);
}

/** True while a value of the order that has not begun waits for the pause after the one before. The first one does not. */
function isPausing({ reached, began }: RolloutState, order: string | undefined, now: number, pause: number): boolean {
  const hasBegun = reached === undefined ? order === FIRST : compareOrder(order, reached.order) <= 0;
  return !hasBegun && now - (reached?.at ?? began) < pause;
}

/** The lowest value of an order. */
const FIRST = '0';

function without({ waiting }: RolloutState, shoot: string): RolloutState['waiting'] {
  return new Map([...waiting].filter(([name]) => name !== shoot));
}

/** Returns the list with the Shoot, where it has room or the last one can ask again. */
function noted({ waiting }: RolloutState, { shoot, order, now }: Candidate): RolloutState['waiting'] {
  const known = waiting.get(shoot);
  if (known !== undefined && known.order === order && now - known.seen < SEEN_AGAIN_SECONDS) return waiting;
  const next = new Map(waiting).set(shoot, { order, seen: now });
  if (next.size <= MOST_WAITING) return next;
  const [last] = [...next].toSorted(([, a], [, b]) => compareOrder(b.order, a.order));
  if (last === undefined || last[0] === shoot || compareOrder(last[1].order, order) === 0) return waiting;
  next.delete(last[0]);
  return next;
}
