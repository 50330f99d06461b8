import type { SQSRecord } from 'aws-lambda';
import { errorMessage, TerminalError } from '../../shared/errors.ts';
import { type Change, keyId, parseChange } from '../change.ts';

/** A received change, and how often it has been tried, including this run. */
export interface Received {
  record: SQSRecord;
  change: Change;
  attempt: number;
  /** How often SQS has delivered this message, including this time. */
  receives: number;
}

/** The changes that one run handles, all of the same key. */
export interface Group {
  /** Oldest first. */
  all: [Received, ...Received[]];
  /** The one that is retried if the run fails; a retry reads the live objects and so stands for all of them. */
  kept: Received;
  /** True if only the resync asks for this run: the next resync is its retry. */
  isResync: boolean;
}

/** A record that is no valid change for this function. */
export interface Unreadable {
  record: SQSRecord;
  reason: string;
}

/**
 * Sorts a batch into runs. Changes of one key collapse: one run reads the live objects and so handles all of them.
 * @param only the function that the records must be for; absent for standard queues, where each record is a run
 */
export function groupRecords(records: SQSRecord[], only?: string): { groups: Group[]; unreadable: Unreadable[] } {
  const groups = new Map<string, [Received, ...Received[]]>();
  const unreadable: Unreadable[] = [];
  for (const record of records) {
    try {
      const change = changeFor(record, only);
      const receives = Number(record.attributes.ApproximateReceiveCount);
      const attempt = attemptsBefore(change, only) + receives;
      const received = { record, change, attempt, receives };
      const id = only === undefined ? record.messageId : keyId(change);
      const all = groups.get(id);
      if (all === undefined) groups.set(id, [received]);
      else all.push(received);
    } catch (error) {
      unreadable.push({ record, reason: errorMessage(error) });
    }
  }
  return { groups: [...groups.values()].map(groupOf), unreadable };
}

function groupOf(all: Group['all']): Group {
  const isResync = all.every(({ change }) => change.cause.type === 'resync');
  return { all, kept: all.reduce((kept, next) => (isRatherKept(next, kept) ? next : kept)), isResync };
}

/**
 * Returns whether a later change of a group is kept rather than an earlier one: the freshest, so that a request of
 * gardenlet never inherits the attempts of a change that has failed for hours. But a resync never makes those start
 * again, and the rest of a pass (`continue`) is part of what another change of its key asks for.
 */
function isRatherKept(later: Received, earlier: Received): boolean {
  const [a, b] = [rank(later), rank(earlier)];
  if (a !== b) return a < b;
  const [rest, other] = [later.change.cause, earlier.change.cause];
  if (rest.type === 'continue' && other.type === 'continue') return rest.after < other.after;
  return later.attempt <= earlier.attempt;
}

function rank({ change }: Received): number {
  return { object: 0, redrive: 0, notBefore: 0, continue: 1, resync: 2 }[change.cause.type];
}

/** Counts the attempts before the delay queue, after which SQS counts from 1 again. The delay function has its own. */
function attemptsBefore({ function: target, cause }: Change, only: string | undefined): number {
  return target === only && 'attempt' in cause ? (cause.attempt ?? 0) : 0;
}

function changeFor(record: SQSRecord, only: string | undefined): Change {
  const change = parseChange(record.body);
  if (only !== undefined && change.function !== only) {
    throw new TerminalError(
      `The message is for function ${change.function}, not ${only}; send it to the queue of ${change.function}.`,
    );
  }
  return change;
}
