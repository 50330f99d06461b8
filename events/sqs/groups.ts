import type { SQSRecord } from 'aws-lambda';
import { errorMessage, TerminalError } from '../../shared/errors.ts';
import { type Change, groupId, parseChange } from '../change.ts';

/** The records that one run answers: changes of the same key, oldest first. */
export interface Group {
  records: [SQSRecord, ...SQSRecord[]];
  changes: [Change, ...Change[]];
  /** How often the oldest has been tried, this time included. */
  attempt: number;
}

/** A record that no function understands. */
export interface Unreadable {
  record: SQSRecord;
  reason: string;
}

/**
 * Sorts a batch into runs. Changes of one key collapse: the run reads the live objects, so it answers all of them.
 * @param only the function that the records must be for; absent (standard queues): any, and each record is its own run
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
        const attempt = triesBefore(change, only) + Number(record.attributes.ApproximateReceiveCount);
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

/** Tries before a wait in the delay queue, after which SQS counts from 1 again. They are the addressee's own. */
function triesBefore({ function: target, cause }: Change, only: string | undefined): number {
  return target === only && cause.type === 'notBefore' ? (cause.attempt ?? 0) : 0;
}

function changeFor(record: SQSRecord, only: string | undefined): Change {
  const change = parseChange(record.body);
  if (only !== undefined && change.function !== only) {
    throw new TerminalError(`The message is for function ${change.function}, not ${only}; send it to that queue.`);
  }
  return change;
}
