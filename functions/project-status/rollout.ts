import {
  compareOrder,
  isPaused,
  isUnderWay,
  MOST_FAILED,
  mostInProgress,
  type RolloutState,
  rolloutIn,
  stateAt,
} from '../../shared/gardener/rollout.ts';
import { changesFor } from '../../shared/gardener/shoot-changes.ts';
import { causeOfStatus, shootsOf } from '../../shared/gardener/status-map.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import type { Place, Published } from './publish.ts';

/** What has become of a Shoot. */
export interface Result {
  shoot: string;
  /** The revision that it has; undefined: none. */
  revision: string | undefined;
  /** `gone`: the extension has left it, or it is hibernated. `open`: it is not known yet. */
  end: 'ready' | 'not ready' | 'gone' | 'open';
  /** True: members saw it healthy before. */
  wasHealthy: boolean;
  /** Seconds since 1970. */
  now: number;
}

/**
 * Returns the state of the rollout with what has become of a Shoot and without places that have run out; the same one
 * where neither changes anything.
 * @param ready those whose line says that they are Ready
 */
export function recordResult(live: RolloutState, result: Result, ready: ReadonlySet<string>): RolloutState {
  const next = resultOf(live, result, ready);
  const hasEnded = live.inProgress.has(result.shoot) && !next.inProgress.has(result.shoot);
  return hasEnded && next.reached !== undefined ? { ...next, reached: { ...next.reached, at: result.now } } : next;
}

function resultOf(live: RolloutState, result: Result, ready: ReadonlySet<string>): RolloutState {
  const state = stateAt(live, result.now, ready);
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

/** A run wakes so many Shoots; the others check for themselves. */
const MOST_WOKEN = 20;

/**
 * Sends changes to the Shoots whose turn is next, once a write has left places free. Best effort, and only on the seeds of
 * this deployment: all others check again after at most a quarter of the time for which they have waited.
 */
export async function wakeNext(
  { garden, namespace, shoot }: Place,
  written: Published,
  context: Context,
): Promise<void> {
  if (written.type !== 'written') return;
  const { map } = written;
  const state = rolloutIn(map);
  const names = state === undefined ? [] : nextOf(state, shootsOf(map).size, shoot);
  const cause = causeOfStatus(map);
  for (const name of names) {
    const next = await garden.find<KubeObject & Shoot>(resources.shoots, { namespace, name });
    const changes = next === undefined ? [] : changesFor(next, context.settings.seeds, cause);
    if (changes.length > 0) await context.send(changes);
  }
}

/**
 * Returns the Shoots that may take the free places: those that have failed before, then those of the first value of the
 * order, beginning after the Shoot that has ended, so that one that never comes stands in the way of none.
 */
export function nextOf(state: RolloutState, shoots: number, after: string): string[] {
  const { waiting, failed, inProgress } = state;
  const places = Math.min(MOST_WOKEN, mostInProgress(state, shoots) - inProgress.size);
  if (places <= 0) return [];
  const mayBegin = isPaused(state, shoots) ? [...waiting].filter(([name]) => failed.has(name)) : [...waiting];
  const laterIf = (one: boolean, other: boolean) => Number(one) - Number(other);
  return mayBegin
    .toSorted(
      ([one, a], [other, b]) =>
        laterIf(!failed.has(one), !failed.has(other)) ||
        compareOrder(a.order, b.order) ||
        laterIf(one < after, other < after) ||
        (one < other ? -1 : 1),
    )
    .slice(0, places)
    .map(([name]) => name);
}
