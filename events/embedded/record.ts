import type { Message } from '@aws-sdk/client-sqs';
import type { SQSMessageAttributes, SQSRecord } from 'aws-lambda';

/** A received message in the form in which Lambda hands it to a function. */
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

/** Lambda's names start with a small letter where the API's start with a capital. */
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
