import { ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Sqs } from './connect.ts';
import { type QueueUrls, queueNames } from './queues.ts';

/**
 * Returns the queues of functions, which the deployment of the functions has created.
 * @throws ShootFluxError when one of them does not exist
 */
export async function findQueues(
  { client, commands }: Sqs,
  functions: Pick<FunctionDefinition, 'name' | 'queue'>[],
  prefix: string,
): Promise<QueueUrls> {
  const find = async (QueueName: string): Promise<string> => {
    const { QueueUrl } = await client.send(new commands.GetQueueUrlCommand({ QueueName })).catch((error: unknown) => {
      if (!(error instanceof commands.QueueDoesNotExist)) throw error;
      throw new ShootFluxError(
        `The queue ${QueueName} does not exist; deploy the functions first, or correct --queue-prefix or the region.`,
      );
    });
    if (QueueUrl !== undefined) return QueueUrl;
    throw new TypeError(`SQS returned no URL for queue ${QueueName}.`);
  };
  const pairs = functions.map(
    async (definition) => [definition.name, await find(queueNames(definition, prefix).queue)] as const,
  );
  const urls = new Map(await Promise.all(pairs));
  return {
    queue(name) {
      const url = urls.get(name);
      if (url !== undefined) return url;
      throw new TypeError(`Function ${name} has no known queue; known are ${[...urls.keys()].join(', ')}.`);
    },
    deadLetterQueue(name) {
      throw new TypeError(`Only ${name} itself sends to its dead-letter queue.`);
    },
  };
}
