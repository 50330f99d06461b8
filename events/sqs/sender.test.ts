import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GARDEN } from '../../shared/runtime/key.ts';
import { openQueues, type Queues } from '../../test/sqs.ts';
import { causeOf, changeOf, definitionOf, keyOf, lookInto, recordOf } from '../testing.ts';
import { createSqsClient } from './connect.ts';
import { createSender, messageGroup } from './sender.ts';

let queues: Queues;

beforeAll(async () => {
  queues = await openQueues([definitionOf('many')]);
});
afterAll(() => queues.stop());

const changes = (target: string, count: number) =>
  Array.from({ length: count }, (_, n) => changeOf({ function: target, key: keyOf(n) }));

describe('sender', () => {
  it('sends any number of changes, in three groups of their project', async () => {
    await queues.sender.send(changes('many', 137));
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-many.fifo');
    expect(ready).toHaveLength(137);
    expect(new Set(ready.map(({ messageGroupId }) => messageGroupId))).toEqual(new Set(['dev/0', 'dev/1', 'dev/2']));
  });

  it('sends all changes of a key in one group', () => {
    const groups = [causeOf(), causeOf({ resourceVersion: '2' }), { type: 'resync', epoch: 1 } as const].map((cause) =>
      messageGroup(changeOf({ key: keyOf(1), cause })),
    );
    expect(new Set(groups)).toHaveLength(1);
  });

  it.each([
    ['a Shoot of it on another seed', { cluster: 'other', namespace: 'shoot--dev--pear', name: 'shoot-flux' }],
    ['its namespace in the garden', { cluster: GARDEN, namespace: 'garden-dev', name: 'flux-config' }],
  ])('counts as the project: %s', (_, key) => {
    expect(messageGroup(changeOf({ key }))).toMatch(/^dev\/[012]$/);
  });

  it('says how many changes SQS did not accept', async () => {
    const Failed = [{ Id: '1', SenderFault: true, Code: 'InvalidMessageContents' }];
    const client = { send: async () => ({ Failed }) } as unknown as SQSClient;
    await expect(createSender(client, queues.urlPrefix).send(changes('many', 3))).rejects.toThrow(
      'SQS did not accept 1 of 3 changes: SQS rejected an entry of a batch (InvalidMessageContents)',
    );
  });

  it('throws when the queue does not exist', async () => {
    const elsewhere = `${queues.endpoint}/000000000000/elsewhere-`;
    const sender = createSender(createSqsClient(queues.endpoint), elsewhere);
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
    const message = { ...recordOf(changeOf()), body: 'as it came' };
    await queues.sender.deadLetter('many', message, 'no such key \u0000 here');
    await queues.sender.deadLetter('many', message, 'no such key \u0000 here');
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-many-dead-letter.fifo');
    expect(ready.map(({ body, messageAttributes }) => [body, messageAttributes.reason?.StringValue])).toEqual([
      ['as it came', 'no such key ? here'],
    ]);
  });
});
