import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ForwardedCause } from './forwarded-cause.ts';

/** How far the listing of the Shoots of a project has come. */
export interface Position {
  /** Name of the last Shoot that was notified; empty at the start. */
  after: string;
  /** The API server's token for the rest; absent at the start, and after the token has expired. */
  token?: string | undefined;
  /** Runs of this listing before this one. */
  hop: number;
  /** True: when this listing ends another one follows, because something changed meanwhile. */
  again: boolean;
}

/**
 * The most runs of a listing, enough for tens of thousands of Shoots. A longer one stops; the remaining Shoots are
 * reconciled at their next resync.
 */
export const MOST_HOPS = 200;

/** A longer token does not fit into a change; the list then begins again, after the Shoots that were notified. */
const LONGEST_TOKEN = 4096;

/** Where a listing begins. */
export const START: Position = { after: '', hop: 0, again: false };

/**
 * Returns where a run begins. A listing under way is continued from its earliest position, and what changed meanwhile
 * gets another one after it: if every change began at the start, a project that is edited all the time would never
 * reach its last Shoots.
 */
export function beginning(causes: Cause[]): Position {
  const rests = causes.filter((cause) => cause.type === 'continue');
  const [first] = rests.toSorted((a, b) => (a.after < b.after ? -1 : 1));
  if (first === undefined) return START;
  const { after, token, hop } = first;
  const again = rests.length < causes.length || rests.some((rest) => rest.again === true);
  return { after, token, hop, again };
}

/** Returns where the listing continues after a page; undefined when it has ended. */
export function next(position: Position, names: string[], token: string | undefined): Position | undefined {
  const last = names.at(-1) ?? '';
  if (token !== undefined) return { ...position, after: last > position.after ? last : position.after, token };
  return position.again ? { ...START } : undefined;
}

/** Returns the cause with which a listing continues in the next run; undefined when the listing has taken too many. */
export function continuation(
  { after, token, hop, again }: Position,
  { uid, resourceVersion, also, listed }: ForwardedCause,
): (Cause & { type: 'continue' }) | undefined {
  if (hop + 1 >= MOST_HOPS) return undefined;
  // Two listings of the same Shoots have equal tokens, also when they report different edits.
  const state = `${uid}.${resourceVersion}.${also}`;
  const place = token !== undefined && token.length <= LONGEST_TOKEN ? { after, token } : { after };
  return { type: 'continue', ...place, hop: hop + 1, state, ...(again && { again }), ...(listed && { listed }) };
}
