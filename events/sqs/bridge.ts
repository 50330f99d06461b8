import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Bridge, Running, RunOptions } from '../bridge.ts';
import type { ProcessDependencies, QueueFunction } from '../run/runner.ts';
import { lazySqs } from './connect.ts';
import { createQueues } from './create-queues.ts';
import { createSqsLambda } from './lambda.ts';
import { type PollerOptions, startPoller } from './poller.ts';
import { DELAY, type QueueUrls } from './queues.ts';
import { createSender, type Sender } from './sender.ts';
import { claimQueues } from './served-seeds.ts';
import { createVisibility } from './visibility.ts';
import { OPEN_MS, withinMs } from './within.ts';

/** The functions whose queues are opened, and the SQS that holds them. */
export interface BridgeOptions {
  definitions: Pick<FunctionDefinition, 'name' | 'queue'>[];
  log: Log;
  /** Where SQS's protocol is spoken; missing queues are created there. */
  endpoint: string;
  /** Start of every queue's name. Default `shoot-flux-`. */
  prefix?: string | undefined;
  /** Visibility timeout of the queues, and how long a poller leases messages. Default 20 and 15. */
  visibilitySeconds?: number;
  /** The seeds that this process serves, which are recorded on the queues. Absent: nothing is recorded. */
  seeds?: string[];
  /** These seeds take the place of the recorded ones. */
  replaceSeeds?: boolean | undefined;
  /** How long opening the queues may take. Default 15,000. */
  openMs?: number;
  /** Runs of one function at a time; see `PollerOptions`. */
  concurrency?: number | undefined;
}

/** Carries changes through SQS: queues, a sender for the watcher, and pollers that do what Lambda does. */
export interface SqsBridge extends Bridge {
  endpoint: string;
  queues: QueueUrls;
  sender: Sender;
  start(
    functions: QueueFunction[],
    dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
    options?: SqsRunOptions,
  ): Running;
}

/** How functions are run; see `PollerOptions`. */
export type SqsRunOptions = RunOptions & Pick<PollerOptions, 'concurrency' | 'waitSeconds'>;

/** Emulators do not notice a poller that died: its open receive still takes messages. Short receives take few. */
const WAIT_SECONDS = 1;

/** Opens the queues of functions at an endpoint. */
export async function openSqsBridge({
  definitions,
  log,
  endpoint,
  prefix = 'shoot-flux-',
  visibilitySeconds,
  seeds,
  replaceSeeds,
  concurrency,
  openMs = OPEN_MS,
}: BridgeOptions): Promise<SqsBridge> {
  const connect = lazySqs({ endpoint });
  const sqs = await connect();
  const visible = visibilitySeconds === undefined ? {} : { visibilitySeconds };
  const queues = await withinMs(openMs, createQueues(sqs, definitions, { prefix, ...visible })).catch(
    (error: unknown) => {
      sqs.client.destroy();
      throw new ShootFluxError(
        `SQS at ${new URL(endpoint).host}: the queues cannot be opened (${errorMessage(error)}); check the endpoint.`,
      );
    },
  );
  if (seeds !== undefined) {
    const queueUrl = queues.queue(DELAY);
    await claimQueues(sqs, { queueUrl, prefix, served: seeds, replace: replaceSeeds === true }).catch(
      (error: unknown) => {
        sqs.client.destroy();
        throw error;
      },
    );
  }
  const sender = createSender({ sqs: connect, queues });

  return {
    endpoint,
    queues,
    sender,
    start(functions, dependenciesOf, options) {
      const pollers = functions.map((queueFunction) => {
        const { definition } = queueFunction;
        const queueUrl = queues.queue(definition.name);
        const visibility = createVisibility(connect, queueUrl);
        const lambda = createSqsLambda(queueFunction, { ...dependenciesOf(definition), sender, visibility });
        return startPoller({
          name: definition.name,
          lambda,
          sqs,
          queueUrl,
          log,
          waitSeconds: WAIT_SECONDS,
          ...visible,
          ...(concurrency === undefined ? {} : { concurrency }),
          ...options,
        });
      });
      return {
        alive: () => pollers.every((poller) => poller.alive()),
        async stop(deadlineMs) {
          await Promise.all(pollers.map((poller) => poller.stop(deadlineMs)));
        },
      };
    },
    async stop() {
      sqs.client.destroy();
    },
  };
}
