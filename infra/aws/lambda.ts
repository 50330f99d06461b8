import type { QueueFunction } from '../../events/run/runner.ts';
import { lazySqs, type Sqs } from '../../events/sqs/connect.ts';
import { createSqsLambda, type SqsLambda } from '../../events/sqs/lambda.ts';
import { prefixedQueueUrls } from '../../events/sqs/queues.ts';
import { createSender } from '../../events/sqs/sender.ts';
import { createVisibility } from '../../events/sqs/visibility.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

/**
 * Returns the `handler` that a function's bundle exports. It is created on first use and kept while the Lambda is warm.
 * `SQS_ENDPOINT`, `SECRETS_MANAGER_ENDPOINT` and `STS_ENDPOINT` replace AWS's own endpoints.
 */
export function lambdaHandler(queueFunction: QueueFunction): SqsLambda {
  const sqs = lazySqs({ endpoint: process.env.SQS_ENDPOINT });
  // A function that sends needs the SDK in every run: load it during initialisation, when Lambda grants a full CPU.
  if (queueFunction.definition.sends) sqs().catch(() => {});
  let made: Promise<SqsLambda> | undefined;
  return async (event, context) => {
    made ??= make(queueFunction, sqs, process.env);
    return (await made)(event, context);
  };
}

async function make(
  queueFunction: QueueFunction,
  sqs: () => Promise<Sqs>,
  variables: NodeJS.ProcessEnv,
): Promise<SqsLambda> {
  const { name } = queueFunction.definition;
  const environment = await readEnvironment(variables);
  const queues = prefixedQueueUrls(readQueueUrlPrefix(variables));
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const lambda = createSqsLambda(queueFunction, {
    kube: lambdaClusters(name, environment, variables),
    settings: environment.settings,
    sender: createSender({ sqs, queues }),
    visibility: createVisibility(sqs, queues.queue(name)),
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
