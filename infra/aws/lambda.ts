import type { QueueFunction } from '../../events/run.ts';
import { createVisibility } from '../../events/sqs/batcher.ts';
import { createSqsClient } from '../../events/sqs/connect.ts';
import { createDelayLambda, createSqsLambda, type SqsDependencies, type SqsLambda } from '../../events/sqs/lambda.ts';
import { DELAY, queueNames } from '../../events/sqs/queues.ts';
import { createSender } from '../../events/sqs/sender.ts';
import { madeOnce } from './made-once.ts';
import { readQueueUrlPrefix } from './settings.ts';

/** Returns the `handler` of a function's bundle. `…_ENDPOINT` of SQS, SECRETS_MANAGER and STS replace AWS's own. */
export function lambdaHandler(queueFunction: QueueFunction): SqsLambda {
  return sqsLambda(queueFunction.definition.name, (dependencies) => createSqsLambda(queueFunction, dependencies));
}

/** Returns the `handler` of the delay queue's bundle. */
export function delayHandler(): SqsLambda {
  return sqsLambda(DELAY, createDelayLambda);
}

function sqsLambda(name: string, create: (dependencies: SqsDependencies) => SqsLambda): SqsLambda {
  const client = createSqsClient(process.env.SQS_ENDPOINT);
  return madeOnce(name, (parts) => {
    const urlPrefix = readQueueUrlPrefix(process.env);
    const visibility = createVisibility(client, queueNames(name, urlPrefix).queue);
    return create({ ...parts, sender: createSender(client, urlPrefix), visibility, now: () => new Date() });
  });
}
