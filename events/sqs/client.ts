// Everything that needs the SDK is behind this module, and this module is imported dynamically: 40 ms and 300 KB that
// a function's cold start pays only when it sends or fails. Named imports keep the lazy chunk free of other commands.
export {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
