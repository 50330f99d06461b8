import type { SQSClient } from '@aws-sdk/client-sqs';
import type { QueueFunction } from '../../events/run.ts';
import { createVisibility } from '../../events/sqs/batcher.ts';
import { createSqsClient } from '../../events/sqs/connect.ts';
import { createDelayLambda, createSqsLambda, type SqsDependencies, type SqsLambda } from '../../events/sqs/lambda.ts';
import { DELAY, prefixedQueueUrls } from '../../events/sqs/queues.ts';
import { createSender } from '../../events/sqs/sender.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

/** Returns the `handler` of a function's bundle. `…_ENDPOINT` of SQS, SECRETS_MANAGER and STS replace AWS's own. */
export function lambdaHandler(queueFunction: QueueFunction): SqsLambda {
  return madeOnce(queueFunction.definition.name, (dependencies) => createSqsLambda(queueFunction, dependencies));
}

/** Returns the `handler` of the delay queue's bundle. */
export function delayHandler(): SqsLambda {
  return madeOnce(DELAY, createDelayLambda);
}

type Create = (dependencies: SqsDependencies) => SqsLambda;

function madeOnce(name: string, create: Create): SqsLambda {
  const client = createSqsClient(process.env.SQS_ENDPOINT);
  let made: Promise<SqsLambda> | undefined;
  return async (event, context) => {
    made ??= make(name, create, client, process.env);
    return (await made)(event, context);
  };
}

async function make(name: string, create: Create, client: SQSClient, variables: NodeJS.ProcessEnv): Promise<SqsLambda> {
  const environment = await readEnvironment(variables);
  const queues = prefixedQueueUrls(readQueueUrlPrefix(variables));
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const lambda = create({
    kube: lambdaClusters(name, environment, variables),
    settings: environment.settings,
    sender: createSender({ client, queues }),
    visibility: createVisibility(client, queues.queue(name)),
    now: () => new Date(),
    log: createLog(environment.logLevel),
    metrics,
  });
  return async (event, context) => {
    try {
      return await lambda(event, context);
    } finally {
      metrics.flush();
    }
  };
}
