import { ShootFluxError } from '../../shared/errors.ts';
import type { Sqs } from './connect.ts';

/** The deployment that the queues belong to: its prefix, and the seeds that it serves. */
export interface SeedsRecord {
  /** The queue that carries the record as tags. */
  queueUrl: string;
  /** Start of every queue's name. */
  prefix: string;
  served: string[];
  /** True: the operator says that `served` takes the place of the recorded seeds. */
  replace: boolean;
}

/** A tag's key, followed by a number: SQS allows 50 tags with 256 characters each. */
const TAG = 'shoot-flux-seeds-';
const LONGEST_VALUE = 256;
const MOST_TAGS = 40;

/**
 * Records the served seeds on the queues, so that another deployment cannot take their changes: SQS hands each message
 * to any process that asks. A process may add seeds; while it replaces another one, both find what they do not serve
 * put off (`not-served.ts`).
 * @throws ShootFluxError when the queues belong to a deployment that serves other seeds
 */
export async function claimQueues({ client, commands }: Sqs, record: SeedsRecord): Promise<void> {
  const { queueUrl: QueueUrl, served } = record;
  const tags = await tagsOn({ client, commands }, QueueUrl);
  const problem = seedsProblem(seedsIn(tags), record);
  if (problem !== undefined) throw new ShootFluxError(problem);
  const wanted = tagsOf(served);
  const surplus = Object.keys(tags).filter((key) => key.startsWith(TAG) && !(key in wanted));
  if (Object.entries(wanted).every(([key, value]) => tags[key] === value) && surplus.length === 0) return;
  await client.send(new commands.TagQueueCommand({ QueueUrl, Tags: wanted }), timeLimit());
  if (surplus.length > 0) {
    await client.send(new commands.UntagQueueCommand({ QueueUrl, TagKeys: surplus }), timeLimit());
  }
  // Two processes that start together with different seeds: the record of one of them is left.
  const late = seedsProblem(seedsIn(await tagsOn({ client, commands }, QueueUrl)), { ...record, replace: false });
  if (late !== undefined) throw new ShootFluxError(late);
}

/** Returns the seeds that the functions behind the queues serve, as far as they are recorded. */
export async function recordedSeeds(sqs: Sqs, queueUrl: string): Promise<string[]> {
  return seedsIn(await tagsOn(sqs, queueUrl));
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

async function tagsOn({ client, commands }: Sqs, QueueUrl: string): Promise<Record<string, string>> {
  const { Tags = {} } = await client.send(new commands.ListQueueTagsCommand({ QueueUrl }), timeLimit());
  return Tags;
}

/** Returns why a process must not use the queues; undefined if it may. Nothing recorded, or a subset, is no problem. */
export function seedsProblem(
  recorded: string[],
  { prefix, served, replace }: Pick<SeedsRecord, 'prefix' | 'served' | 'replace'>,
): string | undefined {
  if (replace || recorded.every((seed) => served.includes(seed))) return undefined;
  return (
    `The queues ${prefix}* belong to a deployment that serves ${namesOf(recorded)}, and this process serves ` +
    `${namesOf(served)}; choose another --queue-prefix, serve the same seeds and more, or pass --replace-seeds if ` +
    'these replace those.'
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
      `${seeds.length} seeds are too many for one queue prefix; start one process for each half.`,
    );
  }
  return Object.fromEntries(values.map((value, index) => [`${TAG}${index}`, value]));
}

function namesOf(seeds: string[]): string {
  return seeds.length === 0 ? 'no seeds' : seeds.toSorted().join(', ');
}

function timeLimit() {
  return { abortSignal: AbortSignal.timeout(10_000) };
}
