import type { Message } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { errorMessage, RetryableError } from '../../shared/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { FUNCTION_TIMEOUT_SECONDS } from '../run/deadline.ts';
import { createBatcher } from './batcher.ts';
import type { Sqs } from './connect.ts';
import type { SqsLambda } from './lambda.ts';
import { failedMessages, lambdaContext, toRecord } from './lambda-protocol.ts';
import { BATCH_SIZE, LEASE_SECONDS } from './limits.ts';
import { createVisibility } from './visibility.ts';

/** Which queue is polled for which function, and at what pace. */
export interface PollerOptions {
  /** The function's name. */
  name: string;
  lambda: SqsLambda;
  sqs: Sqs;
  queueUrl: string;
  log: Log;
  /** Runs at a time, each for another group. Default 10. */
  concurrency?: number;
  /** How long messages stay hidden; renewed while a run works on them. Default 15. */
  visibilitySeconds?: number;
  /** The function's time. Default 10. */
  timeoutSeconds?: number;
  /** How long a receive waits for messages. Default 20. */
  waitSeconds?: number;
  /** How long after that it may answer. Default 5,000. */
  answerMs?: number;
  /** The poller is not alive if no receive and no run has ended for this long. Default: a minute more than the wait. */
  progressMs?: number;
}

/** Does for one queue and one function what Lambda's event source mapping does. */
export interface Poller {
  /**
   * Stops receiving, returns messages that no run has begun to the queue, and waits for the runs under way. After the
   * deadline their messages are returned too.
   * @param deadlineMs default: a second more than the function's time
   */
  stop(deadlineMs?: number): Promise<void>;
  /** Returns false when nothing has moved for so long that only a restart helps: no receive and no run has ended. */
  alive(): boolean;
}

/** The messages of one group out of one receive. */
interface Delivery {
  group: string;
  records: SQSRecord[];
  /** When SQS will show the messages again, in milliseconds of the monotonic clock. */
  hiddenUntil: number;
}

/** How long after its wait a receive may answer. After that the connection is taken for dead. */
const ANSWER_MS = 5_000;

/** A poller is alive while a receive or a run has ended within this time. */
const PROGRESS_MS = 60_000;

/** How long a waiting receive may continue when the poller stops. */
const RECEIVE_PATIENCE_MS = 1_500;

/** Starts polling at once. Runs a group once at a time, even when a lease was lost. */
export function startPoller(options: PollerOptions): Poller {
  const { name, lambda, sqs, queueUrl, log, concurrency = 10 } = options;
  const {
    visibilitySeconds = LEASE_SECONDS,
    timeoutSeconds = FUNCTION_TIMEOUT_SECONDS,
    waitSeconds = 20,
    answerMs = ANSWER_MS,
    progressMs = PROGRESS_MS + waitSeconds * 1000,
  } = options;
  const visibility = createVisibility(async () => sqs, queueUrl);
  const acknowledge = createAcknowledge(sqs, queueUrl);
  const waiting: Delivery[] = [];
  const running = new Map<string, Delivery>();
  const stopping = new AbortController();
  const receiving = new AbortController();
  let changed = Promise.withResolvers<void>();
  let lastProgress = performance.now();

  const poll = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      if (waiting.length > 0 || running.size >= concurrency) {
        await changed.promise;
        continue;
      }
      try {
        await receive();
        lastProgress = performance.now();
        failures = 0;
      } catch (error) {
        lastProgress = performance.now();
        if (stopping.signal.aborted) return;
        failures++;
        log.warn('receive failed', { function: name, failures, error: errorMessage(error) });
        await sleep(Math.min(10_000, 100 * 2 ** failures) * (0.5 + Math.random() / 2), stopping.signal);
      }
    }
  };

  const receive = async (): Promise<void> => {
    const { client, commands } = sqs;
    const command = new commands.ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: BATCH_SIZE,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: visibilitySeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const limit = AbortSignal.timeout(waitSeconds * 1000 + answerMs);
    const abortSignal = AbortSignal.any([receiving.signal, limit]);
    const { Messages = [] } = await client.send(command, { abortSignal }).catch((error: unknown) => {
      throw limit.aborted
        ? new RetryableError('SQS has not answered in time; the next receive has a new connection')
        : error;
    });
    const hiddenUntil = performance.now() + visibilitySeconds * 1000;
    const deliveries = byGroup(Messages, queueUrl, hiddenUntil);
    if (stopping.signal.aborted) await returnToQueue(deliveries);
    else waiting.push(...deliveries);
    startRuns();
  };

  /** Starts a run for each waiting group that has none, as long as slots are free. */
  const startRuns = () => {
    while (running.size < concurrency) {
      const index = waiting.findIndex(({ group }) => !running.has(group));
      const [delivery] = index < 0 ? [] : waiting.splice(index, 1);
      if (delivery === undefined) return;
      running.set(delivery.group, delivery);
      void run(delivery).finally(() => {
        running.delete(delivery.group);
        lastProgress = performance.now();
        if (!stopping.signal.aborted) startRuns();
        notify();
      });
    }
  };

  const run = async ({ records }: Delivery): Promise<void> => {
    try {
      const response = await lambda({ Records: records }, lambdaContext(name, timeoutSeconds));
      const failed = failedMessages(response, records);
      const done = records.filter(({ messageId }) => !failed.has(messageId));
      await Promise.all(done.map(({ receiptHandle }) => acknowledge(receiptHandle)));
    } catch (error) {
      // SQS redelivers the messages when their visibility timeout ends, as with Lambda.
      log.error('batch failed', { function: name, error: describeError(error) });
    }
  };

  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  /** Renews at half time the leases of all deliveries, including those that wait for a slot. */
  const renewLeases = async () => {
    const half = performance.now() + (visibilitySeconds * 1000) / 2;
    const due = [...running.values(), ...waiting].filter(({ hiddenUntil }) => hiddenUntil < half);
    await Promise.all(due.map(renew));
  };
  /** A lease that could not be renewed is due again at the next renewal, before it ends. */
  const renew = async (delivery: Delivery) => {
    const { hiddenUntil } = delivery;
    delivery.hiddenUntil = performance.now() + visibilitySeconds * 1000;
    if (!(await hide([delivery], visibilitySeconds))) delivery.hiddenUntil = hiddenUntil;
  };
  const returnToQueue = (deliveries: Delivery[]) => hide(deliveries, 0);
  /** Returns whether SQS has taken it for all messages. */
  const hide = async (deliveries: Delivery[], seconds: number): Promise<boolean> => {
    const records = deliveries.flatMap((delivery) => delivery.records);
    const results = await Promise.allSettled(records.map(({ receiptHandle }) => visibility(receiptHandle, seconds)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined)
      log.warn('visibility change failed', { function: name, error: errorMessage(failure.reason) });
    return failure === undefined;
  };

  const renewal = setInterval(() => void renewLeases(), (visibilitySeconds * 1000) / 6);
  const polling = poll();

  return {
    alive: () => performance.now() - lastProgress < progressMs,
    async stop(deadlineMs = (timeoutSeconds + 1) * 1000) {
      const deadline = AbortSignal.timeout(deadlineMs);
      stopping.abort();
      notify();
      await returnToQueue(waiting.splice(0));
      // A receive that is cut off may take messages along, which stay hidden until their visibility timeout ends.
      await Promise.race([polling, sleep(RECEIVE_PATIENCE_MS, deadline)]);
      receiving.abort();
      await polling;
      deadline.addEventListener('abort', notify);
      while (running.size > 0 && !deadline.aborted) await changed.promise;
      clearInterval(renewal);
      await returnToQueue([...running.values()]);
    },
  };
}

function byGroup(messages: Message[], queueUrl: string, hiddenUntil: number): Delivery[] {
  const deliveries = new Map<string, Delivery>();
  for (const message of messages) {
    const record = toRecord(message, queueUrl);
    const group = record.attributes.MessageGroupId ?? record.messageId;
    const delivery = deliveries.get(group) ?? { group, records: [], hiddenUntil };
    delivery.records.push(record);
    deliveries.set(group, delivery);
  }
  return [...deliveries.values()];
}

function createAcknowledge(sqs: Sqs, queueUrl: string): (receiptHandle: string) => Promise<void> {
  const batcher = createBatcher<{ ReceiptHandle: string }>(async (Entries) => {
    const { client, commands } = sqs;
    const command = new commands.DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries });
    return client.send(command, { abortSignal: AbortSignal.timeout(5_000) });
  });
  return (ReceiptHandle) => batcher({ ReceiptHandle });
}
