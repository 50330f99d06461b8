// SQS and Lambda's event source mapping for tests: fauxqs speaks SQS's protocol in this process.

import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { ProcessDependencies, QueueFunction } from '../events/run.ts';
import { createVisibility } from '../events/sqs/batcher.ts';
import { createSqsClient } from '../events/sqs/connect.ts';
import { createDelayLambda, createSqsLambda, type SqsDependencies, type SqsLambda } from '../events/sqs/lambda.ts';
import { tagsOf } from '../events/sqs/open-sender.ts';
import { BATCH_SIZE, DELAY, delayDefinition, isFifo, queueNames, VISIBILITY_SECONDS } from '../events/sqs/queues.ts';
import { createSender } from '../events/sqs/sender.ts';
import { lambdaContext } from '../events/testing.ts';
import { findFunctions } from '../infra/functions.ts';
import { type ClientOptions, clientsOf } from '../infra/process/clients.ts';
import type { SqsQueue } from '../node_modules/fauxqs/dist/sqs/sqsStore.js';
import type { ReceivedMessage } from '../node_modules/fauxqs/dist/sqs/sqsTypes.js';
import { createClusterHealth } from '../shared/runtime/cluster-health.ts';
import type { Settings } from '../shared/runtime/context.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import type { Log } from '../shared/runtime/log.ts';
import { noMetrics } from '../shared/runtime/metrics.ts';

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;
/** Queues of functions in an emulator, and a sender to them. */
export type Queues = Awaited<ReturnType<typeof createQueues>>;

type Definition = Pick<FunctionDefinition, 'name'>;

/** Starts SQS in memory, reachable from this machine only. */
export async function startEmulator() {
  await receiveGroupsInBatches();
  // Its own start function would listen on all addresses.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

let inBatches: Promise<void> | undefined;

/**
 * Makes fauxqs receive as many messages of a group as a batch has room for, as SQS does, before it takes other groups; its
 * own receive takes one message of each group.
 */
function receiveGroupsInBatches(): Promise<void> {
  inBatches ??= (async () => {
    const { prototype } = (await import('../node_modules/fauxqs/dist/sqs/sqsStore.js')).SqsQueue;
    /** The groups that are locked: those with messages in flight, apart from these. */
    const locks = ({ inflightMessages }: Pick<SqsQueue, 'inflightMessages'>, apart: ReceivedMessage[]) => {
      const own = new Set(apart.map(({ ReceiptHandle }) => ReceiptHandle));
      const others = [...inflightMessages.values()].filter(({ receiptHandle }) => !own.has(receiptHandle));
      const groups = Map.groupBy(others, ({ message }) => message.messageGroupId ?? '');
      return new Map([...groups].map(([group, messages]) => [group, messages.length]));
    };
    const receiveOne = prototype.dequeue;
    prototype.dequeue = function (most, ...rest) {
      if (!this.isFifo()) return receiveOne.call(this, most, ...rest);
      const batch: ReceivedMessage[] = [];
      for (let isMore = true; isMore && batch.length < most; ) {
        this.fifoLockedGroups = locks(this, batch);
        const found = receiveOne.call(this, 1, ...rest);
        batch.push(...found);
        isMore = found.length > 0;
      }
      this.fifoLockedGroups = locks(this, []);
      return batch;
    };
  })();
  return inBatches;
}

/** Creates the queues of functions, as their deployment does, with the record of the seeds that it serves. */
export async function createQueues(
  endpoint: string,
  definitions: Definition[],
  { prefix = 'shoot-flux-', seeds = [] as string[] } = {},
) {
  const client = createSqsClient(endpoint);
  for (const { name } of [...definitions, delayDefinition]) {
    const names = queueNames(name, prefix);
    const fifo: Record<string, string> = isFifo(name) ? { FifoQueue: 'true' } : {};
    const visible = { VisibilityTimeout: String(VISIBILITY_SECONDS) };
    const tags = name === DELAY ? tagsOf(seeds) : {};
    await client.send(new CreateQueueCommand({ QueueName: names.deadLetterQueue, Attributes: fifo }));
    await client.send(new CreateQueueCommand({ QueueName: names.queue, Attributes: { ...fifo, ...visible }, tags }));
  }
  const urlPrefix = `${endpoint}/000000000000/${prefix}`;
  return { endpoint, urlPrefix, sender: createSender(client, urlPrefix), stop: async () => client.destroy() };
}

/** Opens the queues of functions in an emulator of their own. */
export async function openQueues(definitions: Definition[]): Promise<Queues> {
  const emulator = await startEmulator();
  const queues = await createQueues(emulator.endpoint, definitions);
  return {
    ...queues,
    async stop() {
      await queues.stop();
      await emulator.stop();
    },
  };
}

/** A queue, and the function that gets its messages. */
export interface EventSource {
  client: SQSClient;
  queueUrl: string;
  invoke(event: SQSEvent): Promise<SQSBatchResponse | undefined>;
  /** Batches at a time. Default 2. */
  concurrency?: number;
  batchSize?: number;
}

/** Does for one queue what Lambda's event source mapping does. */
export function startEventSource(source: EventSource): { stop(): Promise<void> } {
  const { client, queueUrl: QueueUrl, invoke, concurrency = 2 } = source;
  let isStopped = false;
  const runBatch = async (Records: SQSRecord[]): Promise<void> => {
    const failed = failedMessages(await invoke({ Records }), Records);
    const Entries = Records.filter(({ messageId }) => !failed.has(messageId)).map(({ receiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
    }));
    if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  };
  /** One of the batches at a time: receives when it is free. */
  const slot = async (): Promise<void> => {
    while (!isStopped) {
      const messages = await receive(source).catch(() => []);
      // After an error the messages appear again when their visibility timeout ends.
      if (messages.length > 0) await runBatch(messages).catch(() => {});
    }
  };
  const slots = Array.from({ length: concurrency }, slot);
  return {
    async stop() {
      isStopped = true;
      await Promise.all(slots);
    },
  };
}

/** A receive waits for a second, because a stop waits for it. */
async function receive({ client, queueUrl, batchSize = BATCH_SIZE }: EventSource): Promise<SQSRecord[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: batchSize,
    WaitTimeSeconds: 1,
    MessageSystemAttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(command);
  return Messages.map(recordOf);
}

/** Converts a received message to the form in which Lambda hands it to a function. */
function recordOf(message: Message): SQSRecord {
  const { MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '', Attributes } = message;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    md5OfBody: MD5OfBody,
    attributes: Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:local:000000000000:test',
    awsRegion: 'local',
  };
}

/** Returns the ids that stay in the queue. Lambda fails the whole batch for an id that is not of it. */
function failedMessages(response: SQSBatchResponse | undefined, records: SQSRecord[]): Set<string> {
  const all = new Set(records.map(({ messageId }) => messageId));
  const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  return [...failed].every((id) => all.has(id)) ? failed : all;
}

/** Runs the Lambdas of functions, and that of the delay queue, for what is in their queues. */
export async function startLambdas(
  { endpoint, urlPrefix, sender }: Queues,
  functions: QueueFunction[],
  dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
): Promise<{ stop(): Promise<void> }> {
  const client = createSqsClient(endpoint);
  const start = (definition: FunctionDefinition, create: (dependencies: SqsDependencies) => SqsLambda) => {
    const queueUrl = queueNames(definition.name, urlPrefix).queue;
    const visibility = createVisibility(client, queueUrl);
    const lambda = create({ ...dependenciesOf(definition), sender, visibility });
    return startEventSource({ client, queueUrl, invoke: (event) => lambda(event, lambdaContext(definition.name, 10)) });
  };
  const sources = functions.map((queueFunction) =>
    start(queueFunction.definition, (dependencies) => createSqsLambda(queueFunction, dependencies)),
  );
  sources.push(start(delayDefinition, createDelayLambda));
  return {
    async stop() {
      await Promise.all(sources.map((source) => source.stop()));
      client.destroy();
    },
  };
}

/** A deployment of all functions. */
export interface DeploymentOptions extends Pick<ClientOptions, 'credentials' | 'onRequest'> {
  /** Where SQS's protocol is spoken. */
  endpoint: string;
  prefix: string;
  settings: Settings;
  log: Log;
  metrics?: ClientOptions['metrics'];
}

/** Creates the queues of all functions and runs what arrives there, without a watcher, as on Lambda. */
export async function deployFunctions(options: DeploymentOptions) {
  const { endpoint, prefix, settings, log, metrics = noMetrics } = options;
  const functions = await findFunctions();
  const definitions = functions.map(({ definition }) => definition);
  const queues = await createQueues(endpoint, definitions, { prefix, seeds: settings.seeds });
  const clients = { ...options, metrics, health: createClusterHealth() };
  const lambdas = await startLambdas(queues, functions, ({ name }) => ({
    ...{ kube: clientsOf(name, clients), settings, now: () => new Date(), log, metrics },
  }));
  return {
    async stop() {
      await lambdas.stop();
      await queues.stop();
    },
  };
}
