import { setTimeout } from 'node:timers/promises';
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { errorMessage } from '../../shared/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { createBatcher } from '../sqs/batcher.ts';
import type { Sqs } from '../sqs/connect.ts';
import type { SqsLambda } from '../sqs/lambda.ts';
import { BATCH_SIZE, FUNCTION_TIMEOUT_SECONDS, VISIBILITY_SECONDS } from '../sqs/limits.ts';
import { createVisibility } from '../sqs/visibility.ts';
import { failedMessages } from './failures.ts';
import { lambdaContext } from './lambda-context.ts';
import { toRecord } from './record.ts';

/** What is polled for which function, and at what pace. */
export interface PollerOptions {
  /** The function's name. */
  name: string;
  lambda: SqsLambda;
  sqs: Sqs;
  queueUrl: string;
  log: Log;
  /** Runs at a time, each for another group. Default 10. */
  concurrency?: number;
  /** Of the queue; a run that takes longer keeps its messages. Default 60. */
  visibilitySeconds?: number;
  /** The function's time. Default 10. */
  timeoutSeconds?: number;
  /** How long a receive waits for messages. Default 20. */
  waitSeconds?: number;
}

/** Does for one queue and one function what Lambda's event source mapping does. */
export interface Poller {
  /**
   * Receives nothing more, gives back what has not begun, and resolves when the runs under way have ended, or after the
   * deadline, when their messages are given back too.
   * @param deadlineMs default: a second more than the function's time
   */
  stop(deadlineMs?: number): Promise<void>;
}

/** The messages of one group out of one receive. */
interface Delivery {
  group: string;
  records: SQSRecord[];
  /** When SQS will show the messages again, in milliseconds of the monotonic clock. */
  hiddenUntil: number;
}

/** Starts polling at once. Never two runs of a group at a time, also when a lease was lost. */
export function startPoller(options: PollerOptions): Poller {
  const { name, lambda, sqs, queueUrl, log, concurrency = 10 } = options;
  const {
    visibilitySeconds = VISIBILITY_SECONDS,
    timeoutSeconds = FUNCTION_TIMEOUT_SECONDS,
    waitSeconds = 20,
  } = options;
  const visibility = createVisibility(async () => sqs, queueUrl);
  const acknowledge = createAcknowledge(sqs, queueUrl);
  const waiting: Delivery[] = [];
  const running = new Map<string, Delivery>();
  const stopping = new AbortController();
  const receiving = new AbortController();
  let changed = Promise.withResolvers<void>();

  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  /** Starts what may start: a free slot, and no run of the same group. */
  const pump = () => {
    while (running.size < concurrency) {
      const index = waiting.findIndex(({ group }) => !running.has(group));
      const [delivery] = index < 0 ? [] : waiting.splice(index, 1);
      if (delivery === undefined) return;
      running.set(delivery.group, delivery);
      void run(delivery).finally(() => {
        running.delete(delivery.group);
        if (!stopping.signal.aborted) pump();
        notify();
      });
    }
  };

  const run = async (delivery: Delivery): Promise<void> => {
    const { records } = delivery;
    try {
      const response = await lambda({ Records: records }, lambdaContext(name, timeoutSeconds));
      const failed = failedMessages(response, records);
      await Promise.all(
        records
          .filter(({ messageId }) => !failed.has(messageId))
          .map(({ receiptHandle }) => acknowledge(receiptHandle)),
      );
    } catch (error) {
      // The messages come again when their visibility ends, as with Lambda.
      log.error('batch failed', { function: name, error: describeError(error) });
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
    const { Messages = [] } = await client.send(command, { abortSignal: receiving.signal });
    const hiddenUntil = performance.now() + visibilitySeconds * 1000;
    const deliveries = byGroup(Messages, queueUrl, hiddenUntil);
    if (stopping.signal.aborted) await giveBack(deliveries);
    else waiting.push(...deliveries);
    pump();
  };

  const poll = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      if (waiting.length > 0 || running.size >= concurrency) {
        await changed.promise;
        continue;
      }
      try {
        await receive();
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        failures++;
        log.warn('receive failed', { function: name, failures, error: errorMessage(error) });
        await sleep(Math.min(10_000, 100 * 2 ** failures) * (0.5 + Math.random() / 2), stopping.signal);
      }
    }
  };

  /** Leases of what is held are renewed at half time, also of deliveries that still wait for a slot. */
  const renew = async () => {
    const half = performance.now() + (visibilitySeconds * 1000) / 2;
    const due = [...running.values(), ...waiting].filter(({ hiddenUntil }) => hiddenUntil < half);
    for (const delivery of due) delivery.hiddenUntil = performance.now() + visibilitySeconds * 1000;
    await hide(due, visibilitySeconds);
  };
  const giveBack = (deliveries: Delivery[]) => hide(deliveries, 0);
  const hide = async (deliveries: Delivery[], seconds: number): Promise<void> => {
    const records = deliveries.flatMap((delivery) => delivery.records);
    const results = await Promise.allSettled(records.map(({ receiptHandle }) => visibility(receiptHandle, seconds)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined)
      log.warn('visibility not changed', { function: name, error: errorMessage(failure.reason) });
  };

  const renewal = setInterval(() => void renew(), (visibilitySeconds * 1000) / 6);
  const polling = poll();

  return {
    async stop(deadlineMs = (timeoutSeconds + 1) * 1000) {
      const deadline = AbortSignal.timeout(deadlineMs);
      stopping.abort();
      notify();
      await giveBack(waiting.splice(0));
      // A receive that is cut off may take messages along that nobody sees until their visibility ends.
      await Promise.race([polling, sleep(RECEIVE_PATIENCE_MS, deadline)]);
      receiving.abort();
      await polling;
      deadline.addEventListener('abort', notify);
      while (running.size > 0 && !deadline.aborted) await changed.promise;
      clearInterval(renewal);
      await giveBack([...running.values()]);
    },
  };
}

/** How long a waiting receive may go on when the poller stops. */
const RECEIVE_PATIENCE_MS = 1_500;

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

/** Ends early when the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
