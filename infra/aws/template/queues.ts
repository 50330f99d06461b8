import {
  DEAD_LETTER_RETENTION_SECONDS,
  DELAY,
  isFifo,
  MAX_RECEIVE_COUNT,
  queueNames,
  VISIBILITY_SECONDS,
} from '../../../events/sqs/queues.ts';
import { tagsOf } from '../../../events/sqs/served-seeds.ts';
import type { FunctionDefinition } from '../../../shared/runtime/definition.ts';
import { arn, logicalId, type Named, PREFIX, policy, sub } from './cloudformation.ts';

/** What precedes the name of a function in the URL of its queue. */
export const queueUrlPrefix = sub(`https://sqs.\${AWS::Region}.\${AWS::URLSuffix}/\${AWS::AccountId}/${PREFIX}`);

/**
 * Returns the queue of a function with its dead-letter queue; both refuse requests without TLS. The delay queue carries
 * the served seeds, which watchers read.
 */
export function queues(definition: FunctionDefinition, seeds: string[]): Named[] {
  const id = logicalId(definition.name);
  const names = queueNames(definition.name, PREFIX);
  // High throughput: limits apply to each group instead of the queue.
  const fifo = isFifo(definition.name)
    ? { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' }
    : {};
  return [
    [
      `${id}Queue`,
      queue({
        QueueName: names.queue,
        ...fifo,
        VisibilityTimeout: VISIBILITY_SECONDS,
        ...(definition.name === DELAY && seeds.length > 0 && { Tags: tags(tagsOf(seeds)) }),
        RedrivePolicy: { deadLetterTargetArn: arn(`${id}DeadLetterQueue`), maxReceiveCount: MAX_RECEIVE_COUNT },
      }),
    ],
    [
      `${id}DeadLetterQueue`,
      queue({ QueueName: names.deadLetterQueue, ...fifo, MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS }),
    ],
    [
      `${id}QueuePolicy`,
      {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [`${id}Queue`, `${id}DeadLetterQueue`].map((Ref) => ({ Ref })),
          PolicyDocument: policy({
            Effect: 'Deny',
            Principal: '*',
            Action: 'sqs:*',
            Resource: [arn(`${id}Queue`), arn(`${id}DeadLetterQueue`)],
            Condition: { Bool: { 'aws:SecureTransport': false } },
          }),
        },
      },
    ],
  ];
}

/** The ARNs of the queues to which changes are sent. */
export function fifoQueues(definitions: FunctionDefinition[]): object[] {
  return definitions.filter(({ name }) => isFifo(name)).map(({ name }) => arn(`${logicalId(name)}Queue`));
}

function tags(values: Record<string, string>): { Key: string; Value: string }[] {
  return Object.entries(values).map(([Key, Value]) => ({ Key, Value }));
}

function queue(properties: object): object {
  return { Type: 'AWS::SQS::Queue', Properties: { ...properties, SqsManagedSseEnabled: true } };
}
