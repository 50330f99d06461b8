import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQueues, type Queues } from '../../test/sqs.ts';
import { changeOf, definitionOf, keyOf, lookInto } from '../testing.ts';
import { UnsentError } from '../transport.ts';
import { createSqsClient } from './connect.ts';
import { prefixedQueueUrls } from './queues.ts';
import { createSender } from './sender.ts';

const names = ['many', 'flaky', 'refused'] as const;
let queues: Queues;
let faulty: FaultyGateway;

beforeAll(async () => {
  const definitions = names.map((name) => definitionOf(name));
  queues = await openQueues(definitions);
  faulty = await startFaultyGateway(queues.endpoint);
});
afterAll(async () => {
  await faulty.stop();
  await queues.stop();
});

const changes = (target: string, count: number) =>
  Array.from({ length: count }, (_, n) => changeOf({ function: target, key: keyOf(n) }));

describe('sender', () => {
  it('sends any number of changes, each in the group of its key', async () => {
    await queues.sender.send(changes('many', 137));
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-many.fifo');
    expect(ready).toHaveLength(137);
    expect(new Set(ready.map(({ messageGroupId }) => messageGroupId))).toHaveLength(137);
  });

  it('resolves only after SQS has accepted the changes that it rejected at first', async () => {
    faulty.refuse = 2;
    const sender = createSender({
      client: faulty.client,
      queues: queues.queues,
      batching: { backOff: async () => {} },
    });
    await sender.send(changes('flaky', 10));
    expect(faulty.refuse).toBe(0);
    expect((await lookInto(queues.endpoint, 'shoot-flux-flaky.fifo')).ready).toHaveLength(10);
  });

  it('throws with only the changes that SQS did not accept', async () => {
    faulty.refuse = Number.POSITIVE_INFINITY;
    const batching = { attempts: 2, backOff: async () => {} };
    const sender = createSender({ client: faulty.client, queues: queues.queues, batching });
    const sent = changes('refused', 10);
    const error = await sender.send(sent).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnsentError);
    const { unsent } = error as UnsentError;
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-refused.fifo');
    expect(unsent.length).toBeGreaterThan(0);
    expect(ready.length + unsent.length).toBe(sent.length);
    for (const { body } of ready)
      expect(unsent).not.toContainEqual(expect.objectContaining({ key: JSON.parse(body).key }));
  });

  it('throws when the queue does not exist', async () => {
    const elsewhere = prefixedQueueUrls(`${queues.endpoint}/000000000000/elsewhere-`);
    const sender = createSender({ client: createSqsClient(queues.endpoint), queues: elsewhere });
    await expect(sender.send(changes('many', 1))).rejects.toThrow(/1 of 1 changes.*does not exist/);
  });

  it('delays up to the limit of SQS', async () => {
    const change = changeOf({ function: 'many', cause: { type: 'notBefore', notBefore: '2030-01-01T00:00:00.000Z' } });
    await queues.sender.retryLater(change, 12.2);
    await queues.sender.retryLater(change, 86_400);
    const { delayed } = await lookInto(queues.endpoint, 'shoot-flux-delay');
    const seconds = delayed.map(({ delayUntil = 0, sentTimestamp }) => (delayUntil - sentTimestamp) / 1000);
    expect(seconds).toEqual([13, 900]);
  });

  it('adds the reason to a dead letter, whatever characters it contains', async () => {
    const letter = { function: 'many', body: 'as it came', messageId: 'm1', groupId: 'g1' };
    await queues.sender.deadLetter({ ...letter, reason: 'no such key \u0000 here' });
    await queues.sender.deadLetter({ ...letter, reason: 'no such key \u0000 here' });
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-many-dead-letter.fifo');
    expect(ready.map(({ body, messageAttributes }) => [body, messageAttributes.reason?.StringValue])).toEqual([
      ['as it came', 'no such key ? here'],
    ]);
  });
});

interface FaultyGateway {
  client: ReturnType<typeof createSqsClient>;
  /** How many more requests lose every second entry, as SQS does during an outage. */
  refuse: number;
  stop(): Promise<void>;
}

/** A proxy of the SQS emulator that drops entries of batches and reports them as failed. */
async function startFaultyGateway(upstream: string): Promise<FaultyGateway> {
  const server = createServer(async (incoming, outgoing) => {
    const body = JSON.parse(await text(incoming));
    const lost: { Id: string }[] = [];
    if (gateway.refuse > 0) {
      gateway.refuse--;
      lost.push(...body.Entries.filter((_: unknown, index: number) => index % 2 === 0));
      body.Entries = body.Entries.filter((_: unknown, index: number) => index % 2 === 1);
    }
    const answer = body.Entries.length > 0 ? await forward(upstream, incoming, body) : {};
    const failed = lost.map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' }));
    outgoing.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    outgoing.end(JSON.stringify({ Successful: [], ...answer, Failed: failed }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const gateway: FaultyGateway = {
    client: createSqsClient(`http://127.0.0.1:${port}`),
    refuse: 0,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return gateway;
}

async function forward(upstream: string, { headers }: IncomingMessage, body: unknown): Promise<object> {
  const response = await fetch(upstream, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': String(headers['x-amz-target']),
      authorization: String(headers.authorization),
    },
    body: JSON.stringify(body),
  });
  return (await response.json()) as object;
}
