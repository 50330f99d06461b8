import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Sqs } from './connect.ts';
import { DEAD_LETTER_RETENTION_SECONDS, MAX_RECEIVE_COUNT, VISIBILITY_SECONDS } from './limits.ts';
import { type QueueUrls, queueNames } from './queues.ts';

type Queue = Pick<FunctionDefinition, 'name' | 'queue'>;

/** Names of the queues, and how long their messages stay hidden. */
export interface CreateQueuesOptions {
  /** Start of every queue's name. */
  prefix: string;
  /** Default 20, as on Lambda. */
  visibilitySeconds?: number;
}

/**
 * Creates the queues of functions where no deployment does: in the SQS emulator and in emulators. Leaves existing
 * queues unchanged.
 */
export async function createQueues(sqs: Sqs, functions: Queue[], options: CreateQueuesOptions): Promise<QueueUrls> {
  const pairs = await Promise.all(
    functions.map(async (queue) => [queue.name, await createPair(sqs, queue, options)] as const),
  );
  const urls = new Map(pairs);
  const urlsOf = (name: string) => {
    const found = urls.get(name);
    if (found !== undefined) return found;
    throw new TypeError(`Function ${name} does not exist; known are ${[...urls.keys()].join(', ')}.`);
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
  const deadLetterQueue = await ensure(sqs, names.deadLetterQueue, async () => ({
    ...fifo,
    MessageRetentionPeriod: String(DEAD_LETTER_RETENTION_SECONDS),
  }));
  const queue = await ensure(sqs, names.queue, async () => ({
    ...fifo,
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: await arnOf(sqs, deadLetterQueue),
      maxReceiveCount: MAX_RECEIVE_COUNT,
    }),
  }));
  return { queue, deadLetterQueue };
}

/** Returns the URL of a queue, which it creates with `attributes` if it is missing. */
async function ensure(
  { client, commands }: Sqs,
  QueueName: string,
  attributes: () => Promise<Record<string, string>>,
): Promise<string> {
  const found = await client.send(new commands.GetQueueUrlCommand({ QueueName })).catch((error: unknown) => {
    if (error instanceof commands.QueueDoesNotExist) return undefined;
    throw error;
  });
  const { QueueUrl } =
    found ?? (await client.send(new commands.CreateQueueCommand({ QueueName, Attributes: await attributes() })));
  if (QueueUrl === undefined) throw new TypeError(`SQS returned no URL for queue ${QueueName}.`);
  return QueueUrl;
}

async function arnOf({ client, commands }: Sqs, QueueUrl: string): Promise<string> {
  const command = new commands.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  const arn = (await client.send(command)).Attributes?.QueueArn;
  if (arn === undefined) throw new TypeError(`SQS returned no ARN for queue ${QueueUrl}.`);
  return arn;
}
