import { randomUUID } from 'node:crypto';
import type { Message } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSMessageAttributes, SQSRecord } from 'aws-lambda';

/** Converts a received message to the form in which Lambda hands it to a function. */
export function toRecord(message: Message, queueUrl: string): SQSRecord {
  const { Attributes = {} } = message;
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    md5OfBody: message.MD5OfBody ?? '',
    attributes: {
      ...Attributes,
      ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? '1',
      ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? '',
      SentTimestamp: Attributes.SentTimestamp ?? '',
      SenderId: Attributes.SenderId ?? '',
    },
    messageAttributes: messageAttributes(message),
    eventSource: 'aws:sqs',
    eventSourceARN: arnOf(queueUrl),
    awsRegion: 'local',
  };
}

/** Lambda's field names start with a small letter where the API's start with a capital. */
function messageAttributes({ MessageAttributes = {} }: Message): SQSMessageAttributes {
  const entries = Object.entries(MessageAttributes).map(([name, { DataType = 'String', StringValue }]) => [
    name,
    { dataType: DataType, stringValue: StringValue },
  ]);
  return Object.fromEntries(entries);
}

function arnOf(queueUrl: string): string {
  const [account = '', name = ''] = new URL(queueUrl).pathname.split('/').slice(-2);
  return `arn:aws:sqs:local:${account}:${name}`;
}

/** Returns the context of one invocation: the function's name, and how much of its time is left. */
export function lambdaContext(name: string, timeoutSeconds: number): Context {
  const end = performance.now() + timeoutSeconds * 1000;
  return {
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${name}`,
    memoryLimitInMB: '0',
    awsRequestId: randomUUID(),
    logGroupName: name,
    logStreamName: '',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => end - performance.now(),
    done() {},
    fail() {},
    succeed() {},
  };
}

/**
 * Returns the ids of the messages that stay in the queue, by Lambda's rules for partial batch responses: an empty
 * response is success; an identifier that is empty or not of this batch fails the whole batch.
 */
export function failedMessages(response: SQSBatchResponse | undefined, records: SQSRecord[]): Set<string> {
  const all = new Set(records.map(({ messageId }) => messageId));
  const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  return [...failed].every((id) => all.has(id)) ? failed : all;
}
