import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { startEventSource } from '../../../sqs.ts';
import { REGION } from './iam.ts';
import { type Instance, type InstanceOptions, startInstance } from './lambda-instance.ts';
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
  output(): string;
  stop(): Promise<void>;
}

/** Receives batches and hands them to instances, which are started as needed, up to the maximum concurrency. */
export async function startLambdaService(lambda: QueueLambda, endpoint: string): Promise<LambdaService> {
  const { credentials } = lambda;
  const client = new SQSClient({ endpoint, region: REGION, credentials });
  const all = new Set<Instance>();
  const idle: Instance[] = [];
  const ended: string[] = [];

  const takeInstance = async (): Promise<Instance> => {
    const warm = idle.pop();
    if (warm !== undefined && !warm.ended) return warm;
    const instance = await startInstance(lambda);
    all.add(instance);
    await instance.ready;
    return instance;
  };
  const invoke = async (event: SQSEvent): Promise<SQSBatchResponse | undefined> => {
    try {
      const instance = await takeInstance();
      const response = (await instance.invoke(event)) as SQSBatchResponse | undefined;
      idle.push(instance);
      return response;
    } finally {
      for (const instance of all) {
        if (!instance.ended) continue;
        all.delete(instance);
        ended.push(instance.output());
      }
    }
  };
  const { queueUrl, batchSize, maximumConcurrency: concurrency } = lambda;
  const source = startEventSource({ client, queueUrl, batchSize, concurrency, invoke });
  return {
    instances: () => [...all].filter((instance) => !instance.ended),
    output: () => [...ended, ...[...all].map((instance) => instance.output())].join('\n').slice(-6000),
    async stop() {
      const stopped = source.stop();
      const killAll = () => Promise.all([...all].map((instance) => instance.kill()));
      await killAll();
      await stopped;
      // A batch may have been about to start one.
      await killAll();
      client.destroy();
    },
  };
}
