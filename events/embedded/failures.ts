import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';

/**
 * The ids of the messages that stay in the queue, by Lambda's rules for partial batch responses: an empty answer is
 * success, an identifier that is empty or not of this batch fails the whole batch.
 */
export function failedMessages(response: SQSBatchResponse | undefined, records: SQSRecord[]): Set<string> {
  const all = new Set(records.map(({ messageId }) => messageId));
  const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  return [...failed].every((id) => all.has(id)) ? failed : all;
}
