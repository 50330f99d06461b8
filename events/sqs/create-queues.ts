import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Sqs } from './connect.ts';
import { DEAD_LETTER_RETENTION_SECONDS, MAX_RECEIVE_COUNT, VISIBILITY_SECONDS } from './limits.ts';
import { type QueueUrls, queueNames } from './queues.ts';

type Queue = Pick<FunctionDefinition, 'name' | 'queue'>;

export interface CreateQueuesOptions {
  /** Start of every queue's name. */
  prefix: string;
  /** Default 60, as on Lambda. */
  visibilitySeconds?: number;
}

/** Makes the queues of functions where a deployment has not: in the embedded SQS and in emulators. Safe to repeat. */
export async function createQueues(sqs: Sqs, functions: Queue[], options: CreateQueuesOptions): Promise<QueueUrls> {
  const pairs = await Promise.all(
    functions.map(async (queue) => [queue.name, await createPair(sqs, queue, options)] as const),
  );
  const urls = new Map(pairs);
  const urlsOf = (name: string) => {
    const found = urls.get(name);
    if (found !== undefined) return found;
    throw new TypeError(`There is no function ${name}; known are ${[...urls.keys()].join(', ')}.`);
  };
  return { queue: (name) => urlsOf(name).queue, deadLetterQueue: (name) => urlsOf(name).deadLetterQueue };
}

async function createPair(
  sqs: Sqs,
  definition: Queue,
  { prefix, visibilitySeconds = VISIBILITY_SECONDS }: CreateQueuesOptions,
) {
  const names = queueNames(definition, prefix);
  const fifo: Record<string, string> = definition.queue === 'standard' ? {} : { FifoQueue: 'true' };
  const deadLetterQueue = await create(sqs, names.deadLetterQueue, {
    ...fifo,
    MessageRetentionPeriod: String(DEAD_LETTER_RETENTION_SECONDS),
  });
  const deadLetterTargetArn = await arnOf(sqs, deadLetterQueue);
  const queue = await create(sqs, names.queue, {
    ...fifo,
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: MAX_RECEIVE_COUNT }),
  });
  return { queue, deadLetterQueue };
}

async function create(
  { client, commands }: Sqs,
  QueueName: string,
  Attributes: Record<string, string>,
): Promise<string> {
  const { QueueUrl } = await client.send(new commands.CreateQueueCommand({ QueueName, Attributes }));
  if (QueueUrl === undefined) throw new TypeError(`SQS gave no URL for queue ${QueueName}.`);
  return QueueUrl;
}

async function arnOf({ client, commands }: Sqs, QueueUrl: string): Promise<string> {
  const command = new commands.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  const arn = (await client.send(command)).Attributes?.QueueArn;
  if (arn === undefined) throw new TypeError(`SQS gave no ARN for queue ${QueueUrl}.`);
  return arn;
}
