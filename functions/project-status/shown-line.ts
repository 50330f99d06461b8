import { withFullStop } from '../../shared/errors.ts';
import { GRACE_SECONDS } from '../../shared/gardener/checked.ts';
import type { Line } from '../../shared/gardener/status-map.ts';
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import type { FluxState } from './flux-state.ts';

/** A step that is over sooner is not shown: most edits reach a Shoot within this time. */
export const SHOWN_AFTER_SECONDS = 60;

/** What is said about a Shoot, and when time alone changes it. */
interface ShownLine {
  line: Line;
  /** Seconds until the same state is judged differently; undefined: only a change matters. */
  againIn?: number | undefined;
}

/** Returns for how many seconds a state is too young to be shown; undefined: it is shown. */
export function secondsUntilShown(state: FluxState, now: Date): number | undefined {
  if (state.type === 'ready' || (state.type === 'failing' && state.needsUser)) return undefined;
  const age = secondsSince(state.since, now);
  return age < SHOWN_AFTER_SECONDS ? secondsLeft(SHOWN_AFTER_SECONDS, age) : undefined;
}

/** What is known about a Shoot beside its state. */
interface Known {
  isHibernated: boolean;
  /** The Flux release of its record. */
  flux?: string | undefined;
  /** The first warning about its configuration. */
  warned?: string | undefined;
  /** The line that members see now; undefined: none. */
  published: Line | undefined;
  now: Date;
}

/** Returns what `flux-status` says about a Shoot. */
export function lineToShow(state: FluxState, { flux, ...known }: Known): ShownLine {
  const { line, againIn } = judge(state, known);
  return { line: { ...line, ...(flux !== undefined && { flux }) }, ...(againIn !== undefined && { againIn }) };
}

function judge(state: FluxState, { isHibernated, warned, published, now }: Known): ShownLine {
  // Flux does not run, so that what was wrong is no news and nothing can be done about it.
  if (isHibernated) return { line: { state: 'Hibernated' } };
  if (state.type === 'ready') return { line: { state: 'Ready', ...(warned && { sentence: withFullStop(warned) }) } };
  const { since, sentence } = state;
  const age = secondsSince(since, now);
  // A failure without a user's mistake counts as progress at first, as in the Shoot's health.
  if (state.type === 'failing' && (state.needsUser || age >= GRACE_SECONDS)) {
    return { line: { state: 'Not Ready', since, sentence } };
  }
  const begun = published?.state === 'Progressing' ? (published.since ?? since) : since;
  const line: Line = { state: 'Progressing', since: begun, after: beforeOf(published), sentence };
  return state.type === 'failing' ? { line, againIn: secondsLeft(GRACE_SECONDS, age) } : { line };
}

function beforeOf(published: Line | undefined): Line['after'] {
  if (published === undefined) return 'new';
  if (published.state === 'Progressing') return published.after;
  return published.state === 'Not Ready' ? 'Not Ready' : undefined;
}

function secondsLeft(of: number, age: number): number {
  return Math.max(1, Math.ceil(of - age));
}

/** With nothing published before, an older state is no news: for example when this function is new in a landscape. */
const NEWS_SECONDS = 3600;

/**
 * Returns whether members get an Event: only when Flux has become healthy or unhealthy, whatever was in between.
 * @param since when the state that the line says began
 */
export function transition(
  published: Line | undefined,
  line: Line,
  since: string,
  now: Date,
): 'healthy' | 'unhealthy' | undefined {
  if (published === undefined && secondsSince(since, now) > NEWS_SECONDS) return undefined;
  const before = published === undefined ? 'new' : healthOf(published);
  if (line.state === 'Ready' && before !== 'healthy') return 'healthy';
  return line.state === 'Not Ready' && before !== 'unhealthy' ? 'unhealthy' : undefined;
}

/** Returns whether members saw a Shoot healthy: also while something was under way. */
export function isHealthy(published: Line | undefined): boolean {
  return published !== undefined && healthOf(published) === 'healthy';
}

function healthOf({ state, after }: Line): 'healthy' | 'unhealthy' | 'new' {
  if (state === 'Not Ready' || after === 'Not Ready') return 'unhealthy';
  return after === 'new' ? 'new' : 'healthy';
}
