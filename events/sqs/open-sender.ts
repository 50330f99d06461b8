import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { OpenSender } from '../bridge.ts';
import { lazySqs } from './connect.ts';
import { findQueues } from './find-queues.ts';
import { DELAY } from './queues.ts';
import { createSender } from './sender.ts';
import { recordedSeeds, unservedProblem } from './served-seeds.ts';
import { OPEN_MS, withinMs } from './within.ts';

/** A sender, and what it has found to sign requests with. */
export interface SqsSender extends OpenSender {
  identity: {
    region(): Promise<string>;
    credentials(): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }>;
  };
}

export interface SqsSenderOptions {
  definitions: Pick<FunctionDefinition, 'name' | 'queue'>[];
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
  const connect = lazySqs({ endpoint });
  const sqs = await connect();
  try {
    const queues = await withinMs(openMs, findQueues(sqs, definitions, prefix));
    const problem = unservedProblem(await withinMs(openMs, recordedSeeds(sqs, queues.queue(DELAY))), prefix, seeds);
    if (problem !== undefined) throw new ShootFluxError(problem);
    const { send } = createSender({ sqs: connect, queues });
    const { region, credentials } = sqs.client.config;
    return { sender: { send }, identity: { region, credentials }, stop: async () => sqs.client.destroy() };
  } catch (error) {
    sqs.client.destroy();
    if (error instanceof ShootFluxError) throw error;
    const place = endpoint === undefined ? 'SQS' : `SQS at ${new URL(endpoint).host}`;
    const remedy = 'check region, credentials and rights';
    throw new ShootFluxError(`${place}: the queues ${prefix}* cannot be opened (${errorMessage(error)}); ${remedy}.`);
  }
}
