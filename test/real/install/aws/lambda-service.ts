import type { SQSBatchResponse } from 'aws-lambda';
import * as commands from '../../../../events/sqs/client.ts';
import type { Sqs } from '../../../../events/sqs/connect.ts';
import { failedMessages, toRecord } from '../../../../events/sqs/lambda-protocol.ts';
import { type Instance, type InstanceOptions, startInstance } from './lambda-instance.ts';
import { REGION } from './request.ts';
import type { RoleCredentials } from './stand-in.ts';

/** A deployed function whose events come from a queue. */
export interface QueueLambda extends InstanceOptions {
  queueUrl: string;
  batchSize: number;
  maximumConcurrency: number;
  /** Those of its role: AWS receives and deletes with them. */
  credentials: RoleCredentials;
}

/** Does what AWS Lambda does for one function with an event source mapping. */
export interface LambdaService {
  /** Instances that run now. */
  instances(): Instance[];
  /** Milliseconds until each instance was ready, in the order of their start. */
  inits: number[];
  /** Number of events that were handled. */
  handled(): number;
  output(): string;
  stop(): Promise<void>;
}

/** Receives batches and hands them to instances, which are started as needed, up to the maximum concurrency. */
export async function startLambdaService(lambda: QueueLambda, endpoint: string): Promise<LambdaService> {
  const { credentials } = lambda;
  const sqs: Sqs = { client: new commands.SQSClient({ endpoint, region: REGION, credentials }), commands };
  const stopping = new AbortController();
  const all = new Set<Instance>();
  const idle: Instance[] = [];
  const inits: number[] = [];
  const ended: string[] = [];
  let handled = 0;

  const takeInstance = async (): Promise<Instance> => {
    const warm = idle.pop();
    if (warm !== undefined && !warm.ended) return warm;
    const instance = await startInstance(lambda);
    all.add(instance);
    inits.push(await instance.ready);
    return instance;
  };
  /** One slot of the concurrency: receives when it is free, as the mapping scales its pollers with the concurrency. */
  const slot = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const records = await receive(sqs, lambda, stopping.signal).catch(() => []);
      if (records.length === 0) continue;
      try {
        const instance = await takeInstance();
        const response = (await instance.invoke({ Records: records })) as SQSBatchResponse | undefined;
        handled++;
        idle.push(instance);
        const failed = failedMessages(response, records);
        await acknowledge(
          sqs,
          lambda,
          records.filter(({ messageId }) => !failed.has(messageId)).map(({ receiptHandle }) => receiptHandle),
        );
      } catch {
        // The messages appear again when their visibility timeout ends.
      }
      for (const instance of all) {
        if (!instance.ended) continue;
        all.delete(instance);
        ended.push(instance.output());
      }
    }
  };
  const slots = Promise.all(Array.from({ length: lambda.maximumConcurrency }, slot));
  return {
    instances: () => [...all].filter((instance) => !instance.ended),
    inits,
    handled: () => handled,
    output: () => [...ended, ...[...all].map((instance) => instance.output())].join('\n').slice(-6000),
    async stop() {
      stopping.abort();
      const killAll = () => Promise.all([...all].map((instance) => instance.kill()));
      await killAll();
      await slots;
      // A slot may have been about to start one.
      await killAll();
      sqs.client.destroy();
    },
  };
}

async function receive({ client, commands }: Sqs, { queueUrl, batchSize }: QueueLambda, abortSignal: AbortSignal) {
  const command = new commands.ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: batchSize,
    WaitTimeSeconds: 1,
    MessageSystemAttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(command, { abortSignal });
  return Messages.map((message) => toRecord(message, queueUrl));
}

async function acknowledge({ client, commands }: Sqs, { queueUrl }: QueueLambda, handles: string[]): Promise<void> {
  if (handles.length === 0) return;
  const Entries = handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
  await client.send(new commands.DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
}
