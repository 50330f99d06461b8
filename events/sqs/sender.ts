import { hash } from 'node:crypto';
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { changeId, encodeChange, keyId } from '../change.ts';
import { tenantOf } from '../queue/slots.ts';
import { sendEach, type Transport } from '../transport.ts';
import { createBatcher } from './batcher.ts';
import { DELAY, MAX_DELAY_SECONDS, queueNames } from './queues.ts';

/** Sends changes to the queues of functions, whose Lambdas (`lambda.ts`) receive them. */
export interface Sender extends Transport {
  /**
   * Sends a message that will not be retried to the dead-letter queue of a function.
   * @param reason one sentence; the message attribute `reason`. The same failure sent twice arrives once
   */
  deadLetter(name: string, message: SQSRecord, reason: string): Promise<void>;
}

/** One request may take this long; SQS answers sends within milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Sends changes to the queues of functions, in batches of ten per queue. @param urlPrefix of the queues' URLs */
export function createSender(client: SQSClient, urlPrefix: string): Sender {
  type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;
  const batchers = new Map<string, (entry: Entry) => Promise<void>>();
  const enqueue = (url: string, entry: Entry): Promise<void> => {
    let batcher = batchers.get(url);
    if (batcher === undefined) {
      batcher = createBatcher<Entry>((Entries) => {
        const command = new SendMessageBatchCommand({ QueueUrl: url, Entries });
        return client.send(command, { abortSignal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
      });
      batchers.set(url, batcher);
    }
    return batcher(entry);
  };

  return {
    send: (changes) =>
      sendEach('SQS', changes, (change) => enqueue(queueNames(change.function, urlPrefix).queue, fifoEntry(change))),

    // Through the delay queue, where a change waits without blocking its group.
    retryLater: (change, delaySeconds) =>
      enqueue(queueNames(DELAY, urlPrefix).queue, {
        MessageBody: encodeChange(change),
        DelaySeconds: Math.min(MAX_DELAY_SECONDS, Math.max(0, Math.ceil(delaySeconds))),
      }),

    deadLetter: (name, { body, messageId, attributes: { MessageGroupId } }, reason) =>
      enqueue(queueNames(name, urlPrefix).deadLetterQueue, {
        MessageBody: body,
        MessageAttributes: { reason: { DataType: 'String', StringValue: attributeText(reason) } },
        // Standard queues have no groups.
        ...(MessageGroupId && { MessageGroupId, MessageDeduplicationId: hash('sha256', `${messageId} ${reason}`) }),
      }),
  };
}

/** The deduplication id drops repetitions of one event. */
function fifoEntry(change: ChangeRequest) {
  return {
    MessageBody: encodeChange(change),
    MessageGroupId: messageGroup(change),
    MessageDeduplicationId: changeId(change),
  };
}

/** A third of the instances that a function has by default, as in the keyed queue (`slots.ts`). */
const GROUPS_OF_A_PROJECT = 3;

/**
 * Returns the message group of a change. SQS delivers one batch of a group at a time, so a project with thousands of changes
 * takes three instances of a function, and the others are free for the next project. A key is always in the same group: it
 * has one run at a time, and its changes stay in order.
 */
export function messageGroup(change: Pick<ChangeRequest, 'function' | 'key'>): string {
  return `${tenantOf(change.key).project}/${Number.parseInt(keyId(change).slice(0, 8), 16) % GROUPS_OF_A_PROJECT}`;
}

/** SQS rejects empty values and characters that XML does not allow; a few lines suffice for a reason. */
function attributeText(text: string): string {
  return (
    text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '?').slice(0, 1000) || 'unknown'
  );
}
