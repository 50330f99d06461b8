import type { SQSRecord } from 'aws-lambda';
import { errorMessage, TerminalError } from '../../shared/errors.ts';
import { type Change, groupId, parseChange } from '../change.ts';

/** The records that one run handles: changes of the same key, oldest first. */
export interface Group {
  records: [SQSRecord, ...SQSRecord[]];
  changes: [Change, ...Change[]];
  /** How often the oldest has been tried, including this run. */
  attempt: number;
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
  const groups = new Map<string, Group>();
  const unreadable: Unreadable[] = [];
  for (const record of records) {
    try {
      const change = changeFor(record, only);
      const id = only === undefined ? record.messageId : groupId(change);
      const group = groups.get(id);
      if (group === undefined) {
        const attempt = attemptsBefore(change, only) + Number(record.attributes.ApproximateReceiveCount);
        groups.set(id, { records: [record], changes: [change], attempt });
      } else {
        group.records.push(record);
        group.changes.push(change);
      }
    } catch (error) {
      unreadable.push({ record, reason: errorMessage(error) });
    }
  }
  return { groups: [...groups.values()], unreadable };
}

/** Counts the attempts before the delay queue, after which SQS counts from 1 again. The delay function has its own. */
function attemptsBefore({ function: target, cause }: Change, only: string | undefined): number {
  return target === only && cause.type === 'notBefore' ? (cause.attempt ?? 0) : 0;
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
