import { createBatcher } from './batcher.ts';
import type { Sqs } from './connect.ts';

/** Hides a received message for so many seconds from now; 0 redelivers it at once. */
export type ChangeVisibility = (receiptHandle: string, seconds: number) => Promise<void>;

/** Changes the visibility of messages of one queue, in batches of ten. */
export function createVisibility(sqs: () => Promise<Sqs>, queueUrl: string): ChangeVisibility {
  interface Entry {
    ReceiptHandle: string;
    VisibilityTimeout: number;
  }
  const batcher = createBatcher<Entry>(
    async (Entries) => {
      const { client, commands } = await sqs();
      const command = new commands.ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries });
      return client.send(command, { abortSignal: AbortSignal.timeout(5_000) });
    },
    { attempts: 2 },
  );
  return (ReceiptHandle, VisibilityTimeout) => batcher({ ReceiptHandle, VisibilityTimeout });
}
