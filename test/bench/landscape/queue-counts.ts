import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startEmulator } from '../../../events/sqs/testing.ts';

/** Requests to SQS that carry messages, as AWS bills them, and the messages that were sent. */
export interface QueueCounts {
  fifo: number;
  standard: number;
  messages: number;
}

/** An SQS emulator behind a proxy that counts. */
export interface CountedQueue {
  endpoint: string;
  /** Since the start. */
  counts(): QueueCounts;
  stop(): Promise<void>;
}

/** The actions of a run on Lambda. A poller also renews leases and opens queues, which Lambda does not. */
const COUNTED = ['SendMessageBatch', 'ReceiveMessage', 'DeleteMessageBatch'];

/** Starts the emulator. An empty receive does not count: how often AWS polls does not depend on the product. */
export async function startCountedQueue(): Promise<CountedQueue> {
  const queue = await startEmulator();
  const counts: QueueCounts = { fifo: 0, standard: 0, messages: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const asked = await text(incoming);
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', queue.endpoint), { method, headers }, async (answer) => {
      const answered = await text(answer);
      count(counts, actionOf(headers), asked, answered);
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(answered);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(asked);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ ...counts }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await queue.stop();
    },
  };
}

function actionOf(headers: IncomingHttpHeaders): string {
  return String(headers['x-amz-target']).replace(/^AmazonSQS\./, '');
}

function count(counts: QueueCounts, action: string, asked: string, answered: string): void {
  if (!COUNTED.includes(action)) return;
  const { QueueUrl, Entries = [] } = JSON.parse(asked) as { QueueUrl: string; Entries?: unknown[] };
  if (action === 'ReceiveMessage' && (JSON.parse(answered).Messages ?? []).length === 0) return;
  if (action === 'SendMessageBatch') counts.messages += Entries.length;
  counts[QueueUrl.endsWith('.fifo') ? 'fifo' : 'standard']++;
}
