import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchResultErrorEntry, ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { RetryableError } from '../../shared/errors.ts';
import { BATCH_SIZE } from './queues.ts';

/** Sends up to ten entries in one request; throws when the request as a whole failed. */
export type BatchRequest<E> = (
  entries: (E & { Id: string })[],
) => Promise<{ Failed?: BatchResultErrorEntry[] | undefined }>;

/** How entries are sent and retried. */
export interface BatcherOptions {
  /** Concurrent requests. Default 4. */
  parallel?: number;
  /** How often an entry that SQS rejects is tried. Default 5. */
  attempts?: number;
  /** The wait before the next attempt; default: full jitter of 100 ms, doubling. */
  backOff?(attempt: number): Promise<void>;
}

/**
 * Turns single entries into batch requests. The promise of an entry resolves when SQS has accepted it and rejects when
 * all attempts failed. Only entries whose failure SQS does not blame on the sender are retried.
 */
export function createBatcher<E extends object>(
  request: BatchRequest<E>,
  { parallel = 4, attempts = 5, backOff = (attempt) => sleep(Math.random() * 100 * 2 ** attempt) }: BatcherOptions = {},
): (entry: E) => Promise<void> {
  interface Waiting {
    entry: E;
    resolve(): void;
    reject(error: Error): void;
  }
  const waiting: Waiting[] = [];
  let active = 0;

  const startBatches = () => {
    while (active < parallel && waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_SIZE);
      active++;
      void deliver(batch).finally(() => {
        active--;
        startBatches();
      });
    }
  };
  const deliver = async (batch: Waiting[]): Promise<void> => {
    let open = batch;
    for (let attempt = 1; open.length > 0; attempt++) {
      const failed = await tryOnce(open);
      open = open.filter((item, index) => {
        const failure = failed.get(index);
        if (failure === undefined) item.resolve();
        else if (failure.isFinal || attempt >= attempts) item.reject(failure.error);
        else return true;
        return false;
      });
      if (open.length > 0) await backOff(attempt);
    }
  };
  const tryOnce = async (batch: Waiting[]): Promise<Map<number, Failure>> => {
    try {
      const { Failed = [] } = await request(batch.map(({ entry }, index) => ({ ...entry, Id: String(index) })));
      return new Map(Failed.map((entry) => [Number(entry.Id), failureOf(entry)]));
    } catch (error) {
      // The SDK has already retried everything that is worth a retry.
      const failure = { error: error instanceof Error ? error : new Error(String(error)), isFinal: true };
      return new Map(batch.map((_, index) => [index, failure]));
    }
  };

  return (entry) =>
    new Promise((resolve, reject) => {
      // Entries of the same turn of the event loop share a request.
      if (waiting.push({ entry, resolve, reject }) === 1) setImmediate(startBatches);
    });
}

interface Failure {
  error: Error;
  isFinal: boolean;
}

function failureOf({ Code = 'no code', Message, SenderFault = false }: BatchResultErrorEntry): Failure {
  const text = Message === undefined ? Code : `${Code}: ${Message}`;
  return { error: new RetryableError(`SQS rejected an entry of a batch (${text})`), isFinal: SenderFault };
}

/** Hides a received message for so many seconds from now; 0 redelivers it at once. */
export type ChangeVisibility = (receiptHandle: string, seconds: number) => Promise<void>;

/** Changes the visibility of messages of one queue, in batches of ten. */
export function createVisibility(client: SQSClient, queueUrl: string): ChangeVisibility {
  interface Entry {
    ReceiptHandle: string;
    VisibilityTimeout: number;
  }
  const batcher = createBatcher<Entry>(
    (Entries) => {
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries });
      return client.send(command, { abortSignal: AbortSignal.timeout(5_000) });
    },
    { attempts: 2 },
  );
  return (ReceiptHandle, VisibilityTimeout) => batcher({ ReceiptHandle, VisibilityTimeout });
}
