import { ListQueueTagsCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { ShootFluxError } from '../../shared/errors.ts';

/** A tag's key, followed by a number: SQS allows 50 tags with 256 characters each. */
const TAG = 'shoot-flux-seeds-';
const LONGEST_VALUE = 256;
const MOST_TAGS = 40;

/** Returns the seeds that the functions behind the queues serve, as far as they are recorded. */
export async function recordedSeeds(client: SQSClient, QueueUrl: string): Promise<string[]> {
  const command = new ListQueueTagsCommand({ QueueUrl });
  const { Tags = {} } = await client.send(command, { abortSignal: AbortSignal.timeout(10_000) });
  return seedsIn(Tags);
}

/**
 * Returns why a watcher must not send to the queues: no function behind them would run for a seed, and its changes would
 * become dead letters.
 */
export function unservedProblem(recorded: string[], prefix: string, watched: string[]): string | undefined {
  const unserved = watched.filter((seed) => !recorded.includes(seed));
  if (recorded.length === 0 || unserved.length === 0) return undefined;
  return (
    `The functions behind the queues ${prefix}* serve ${namesOf(recorded)}, and not ${namesOf(unserved)}; add the seed ` +
    'to the functions first, or choose their --queue-prefix.'
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

function namesOf(seeds: string[]): string {
  return seeds.toSorted().join(', ');
}
