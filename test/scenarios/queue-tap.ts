import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startEmulator } from '../sqs.ts';

/** An SQS that records all requests: messages, attributes, names. */
export interface QueueTap {
  endpoint: string;
  /** Bodies of all requests. */
  said: string[];
  stop(): Promise<void>;
}

/** Starts a recording proxy in front of an SQS emulator. */
export async function startQueueTap(): Promise<QueueTap> {
  const queue = await startEmulator();
  const said: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming);
    said.push(body);
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', queue.endpoint), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    said,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await queue.stop();
    },
  };
}
