// The only import of the SDK. It is loaded dynamically, so that a cold start pays its 40 ms and 300 KB only when the
// function sends or fails. Named exports keep other commands out of the lazy chunk.
export {
  ChangeMessageVisibilityBatchCommand,
  GetQueueUrlCommand,
  ListQueueTagsCommand,
  QueueDoesNotExist,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
