import { GetQueueUrlCommand, ListQueueTagsCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { withinMs } from '../../shared/runtime/sleep.ts';
import type { OpenSender } from '../transport.ts';
import { createSqsClient } from './connect.ts';
import { DELAY, queueNames } from './queues.ts';
import { createSender } from './sender.ts';

/** SQS answers within milliseconds. The SDK has no limit of its own, and a start would wait for ever. */
const OPEN_MS = 15_000;

/** A sender, and what it has found to sign requests with. */
export interface SqsSender extends OpenSender {
  identity: Pick<SQSClient['config'], 'region' | 'credentials'>;
}

export interface SqsSenderOptions {
  definitions: Pick<FunctionDefinition, 'name'>[];
  /** Another SQS than AWS's in the region. */
  endpoint?: string | undefined;
  /** Start of every queue's name. */
  prefix: string;
  /** The seeds that are watched. */
  seeds: string[];
  /** How long opening the queues may take. Default 15,000. */
  openMs?: number;
}

/**
 * Opens the queues of functions that run elsewhere, for sending. Credentials are those that the AWS SDK finds: the
 * environment, a web identity, a profile, the container's or the instance's role.
 * @throws ShootFluxError when the queues cannot be used, or their functions do not serve one of the seeds
 */
export async function openSqsSender(options: SqsSenderOptions): Promise<SqsSender> {
  const { definitions, endpoint, prefix, seeds, openMs = OPEN_MS } = options;
  const client = createSqsClient(endpoint);
  try {
    const delayUrl = await withinMs(openMs, findDelayQueue(client, definitions, prefix));
    checkServed(await withinMs(openMs, recordedSeeds(client, delayUrl)), prefix, seeds);
    const { send } = createSender(client, delayUrl.slice(0, -DELAY.length));
    return { sender: { send }, identity: client.config, stop: async () => client.destroy() };
  } catch (error) {
    client.destroy();
    if (error instanceof ShootFluxError) throw error;
    const place = endpoint === undefined ? 'SQS' : `SQS at ${new URL(endpoint).host}`;
    const remedy = 'check region, credentials and rights';
    throw new ShootFluxError(`${place}: the queues ${prefix}* cannot be opened (${errorMessage(error)}); ${remedy}.`);
  }
}

/**
 * Returns the URL of the delay queue, which begins like those of the functions' queues. All have been created by the
 * deployment of the functions.
 * @throws ShootFluxError when one of them does not exist
 */
async function findDelayQueue(
  client: SQSClient,
  functions: SqsSenderOptions['definitions'],
  prefix: string,
): Promise<string> {
  const find = async (QueueName: string): Promise<string> => {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName })).catch((error: unknown) => {
      if (!(error instanceof QueueDoesNotExist)) throw error;
      throw new ShootFluxError(
        `The queue ${QueueName} does not exist; deploy the functions first, or correct --queue-prefix or the region.`,
      );
    });
    if (QueueUrl !== undefined) return QueueUrl;
    throw new TypeError(`SQS returned no URL for queue ${QueueName}.`);
  };
  const names = [DELAY, ...functions.map(({ name }) => name)];
  const [delayUrl = ''] = await Promise.all(names.map((name) => find(queueNames(name, prefix).queue)));
  return delayUrl;
}

/** A tag's key, followed by a number: SQS allows 50 tags with 256 characters each. */
const TAG = 'shoot-flux-seeds-';
const LONGEST_VALUE = 256;
const MOST_TAGS = 40;

/** Returns the seeds that the functions behind the queues serve, as far as they are recorded. */
async function recordedSeeds(client: SQSClient, QueueUrl: string): Promise<string[]> {
  const command = new ListQueueTagsCommand({ QueueUrl });
  const { Tags = {} } = await client.send(command, { abortSignal: AbortSignal.timeout(10_000) });
  return seedsIn(Tags);
}

/** @throws ShootFluxError when no function behind the queues runs for a seed: its changes would become dead letters */
function checkServed(recorded: string[], prefix: string, watched: string[]): void {
  const unserved = watched.filter((seed) => !recorded.includes(seed)).sort();
  if (recorded.length === 0 || unserved.length === 0) return;
  throw new ShootFluxError(
    `The functions behind the queues ${prefix}* serve ${recorded.join(', ')}, and not ${unserved.join(', ')}; add the ` +
      'seed to the functions first, or choose their --queue-prefix.',
  );
}

/** Returns the seeds in the tags of a queue; empty if none are recorded. */
export function seedsIn(tags: Record<string, string>): string[] {
  return Object.entries(tags)
    .filter(([key]) => key.startsWith(TAG))
    .flatMap(([, value]) => value.split(' '))
    .filter(Boolean)
    .sort();
}

/** Returns the tags for seeds, as many names in each as it has room for. */
export function tagsOf(seeds: string[]): Record<string, string> {
  const values: string[] = [];
  for (const seed of seeds.toSorted()) {
    const last = values.at(-1);
    if (last === undefined || last.length + 1 + seed.length > LONGEST_VALUE) values.push(seed);
    else values[values.length - 1] = `${last} ${seed}`;
  }
  if (values.length > MOST_TAGS) {
    throw new ShootFluxError(
      `${seeds.length} seeds are too many for one queue prefix; make one deployment for each half.`,
    );
  }
  return Object.fromEntries(values.map((value, index) => [`${TAG}${index}`, value]));
}
