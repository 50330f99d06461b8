import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { lazySqs } from '../sqs/connect.ts';
import { createQueues } from '../sqs/create-queues.ts';
import { createSqsLambda } from '../sqs/lambda.ts';
import type { QueueUrls } from '../sqs/queues.ts';
import type { QueueFunction, RunnerDependencies } from '../sqs/runner.ts';
import { createSender, type Sender } from '../sqs/sender.ts';
import { createVisibility } from '../sqs/visibility.ts';
import { type PollerOptions, startPoller } from './poller.ts';

/** Whose queues are opened, and where. */
export interface BridgeOptions {
  definitions: Pick<FunctionDefinition, 'name' | 'queue'>[];
  log: Log;
  /** Another SQS than the embedded one; missing queues are created there. */
  endpoint?: string | undefined;
  /** Start of every queue's name. Default `shoot-flux-`. */
  prefix?: string;
  /** Visibility timeout of the queues. Default 60. */
  visibilitySeconds?: number;
}

/** The dependencies of a runner that the process provides; the bridge adds those of the queue. */
export type ProcessDependencies = Omit<RunnerDependencies, 'sender' | 'visibility'>;

/** Carries changes inside one process: queues, a sender for the watcher, and pollers for the functions. */
export interface Bridge {
  endpoint: string;
  queues: QueueUrls;
  sender: Sender;
  /** Runs functions for their queues: the same code as on Lambda, called by a poller. */
  start(
    functions: QueueFunction[],
    dependenciesOf: (definition: FunctionDefinition) => ProcessDependencies,
    options?: RunOptions,
  ): Running;
  /** Closes the queues; stop the pollers first. */
  stop(): Promise<void>;
}

/** How functions are run; see `PollerOptions`. */
export type RunOptions = Pick<PollerOptions, 'concurrency' | 'timeoutSeconds' | 'waitSeconds'>;

/** The pollers that run functions. */
export interface Running {
  /** Drains all pollers, see `Poller.stop`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** Emulators do not notice a poller that died: its open receive still takes messages. Short receives take few. */
const WAIT_SECONDS = 1;

/** Opens the queues of functions: embedded in this process, or at another endpoint. */
export async function openBridge({
  definitions,
  log,
  endpoint,
  prefix = 'shoot-flux-',
  visibilitySeconds,
}: BridgeOptions): Promise<Bridge> {
  const embedded = endpoint === undefined ? await startEmbeddedQueue() : undefined;
  const address = endpoint ?? embedded?.endpoint ?? '';
  const connect = lazySqs({ endpoint: address });
  const sqs = await connect();
  const visible = visibilitySeconds === undefined ? {} : { visibilitySeconds };
  const queues = await createQueues(sqs, definitions, { prefix, ...visible }).catch((error: unknown) => {
    sqs.client.destroy();
    throw new ShootFluxError(
      `SQS at ${new URL(address).host}: the queues cannot be opened (${errorMessage(error)}); check the endpoint.`,
    );
  });
  const sender = createSender({ sqs: connect, queues });

  return {
    endpoint: address,
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
          ...options,
        });
      });
      return {
        async stop(deadlineMs) {
          await Promise.all(pollers.map((poller) => poller.stop(deadlineMs)));
        },
      };
    },
    async stop() {
      sqs.client.destroy();
      await embedded?.stop();
    },
  };
}

/** SQS's wire protocol, served by this process. */
export interface EmbeddedQueue {
  /** For example `http://127.0.0.1:40123`. */
  endpoint: string;
  stop(): Promise<void>;
}

/** Starts SQS in memory, reachable from this machine only. */
export async function startEmbeddedQueue(port = 0): Promise<EmbeddedQueue> {
  // Loaded on demand; its own start function would listen on all addresses.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}
