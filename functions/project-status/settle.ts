import { isUnderWay, MOST_FAILED, type RolloutState, stateAt } from '../../shared/gardener/rollout.ts';

/** What has become of a Shoot. */
export interface Result {
  shoot: string;
  /** The revision that it has; undefined: none. */
  revision: string | undefined;
  /** `gone`: the extension has left it, or it is hibernated. `open`: it is not known yet. */
  end: 'ready' | 'not ready' | 'gone' | 'open';
  /** True: members saw it healthy before. */
  wasHealthy: boolean;
  /** Those whose line says that they are Ready. */
  ready: ReadonlySet<string>;
  /** Seconds since 1970. */
  now: number;
}

/**
 * Returns the state of the rollout with what has become of a Shoot, and without places that have run out; the same one
 * where neither changes anything.
 */
export function settle(live: RolloutState, result: Result): RolloutState {
  const state = stateAt(live, result.now, result.ready);
  const { shoot, end, revision } = result;
  if (end === 'gone') return without(state, shoot);
  if (end === 'open' || revision !== state.revision) return state;
  if (end === 'ready') {
    const wasChanged = live.inProgress.has(shoot) || live.failed.has(shoot);
    const rest = without(state, shoot);
    return wasChanged ? { ...rest, done: state.done + 1 } : rest;
  }
  const place = state.inProgress.get(shoot);
  if (place !== undefined) {
    const rest = without(state, shoot);
    return place.wasNotReady ? { ...rest, done: state.done + 1 } : withFailed(rest, shoot);
  }
  // It was done, and has failed later.
  const isLate = result.wasHealthy && !state.failed.has(shoot) && isUnderWay(state);
  return isLate ? withFailed({ ...state, done: Math.max(0, state.done - 1) }, shoot) : state;
}

function withFailed(state: RolloutState, shoot: string): RolloutState {
  return state.failed.size >= MOST_FAILED ? state : { ...state, failed: new Set(state.failed).add(shoot) };
}

function without(state: RolloutState, shoot: string): RolloutState {
  const { waiting, inProgress, failed } = state;
  if (!waiting.has(shoot) && !inProgress.has(shoot) && !failed.has(shoot)) return state;
  const others = <V>(map: ReadonlyMap<string, V>) => new Map([...map].filter(([name]) => name !== shoot));
  const rest = new Set([...failed].filter((name) => name !== shoot));
  return { ...state, waiting: others(waiting), inProgress: others(inProgress), failed: rest };
}
