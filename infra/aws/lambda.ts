import { lazySqs, type Sqs } from '../../events/sqs/connect.ts';
import { createSqsLambda, type QueueFunction, type SqsLambda } from '../../events/sqs/lambda.ts';
import { prefixedQueueUrls } from '../../events/sqs/queues.ts';
import { createSender } from '../../events/sqs/sender.ts';
import { createVisibility } from '../../events/sqs/visibility.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

/**
 * What the bundle of a function exports as `handler`: made on first use and kept while the function is warm.
 * `SQS_ENDPOINT` and `SECRETS_MANAGER_ENDPOINT` name other services than AWS's own.
 */
export function lambdaHandler(queueFunction: QueueFunction): SqsLambda {
  const sqs = lazySqs({ endpoint: process.env.SQS_ENDPOINT });
  // Such a function always sends: the SDK loads while Lambda still initialises, when the processor is whole.
  if (queueFunction.definition.sends) sqs().catch(() => {});
  let made: SqsLambda | undefined;
  return (event, context) => {
    made ??= make(queueFunction, sqs, process.env);
    return made(event, context);
  };
}

function make(queueFunction: QueueFunction, sqs: () => Promise<Sqs>, variables: NodeJS.ProcessEnv): SqsLambda {
  const { name } = queueFunction.definition;
  const { settings, kubeconfigSecretPrefix, logLevel } = readEnvironment(variables);
  const queues = prefixedQueueUrls(readQueueUrlPrefix(variables));
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const lambda = createSqsLambda(queueFunction, {
    kube: lambdaClusters(name, kubeconfigSecretPrefix, variables),
    settings,
    sender: createSender({ sqs, queues }),
    visibility: createVisibility(sqs, queues.queue(name)),
    now: () => new Date(),
    log: createLog(logLevel),
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
