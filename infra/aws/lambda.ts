import { lazySqs, type Sqs } from '../../events/sqs/connect.ts';
import { createSqsLambda, type QueueFunction, type SqsLambda } from '../../events/sqs/lambda.ts';
import { prefixedQueueUrls } from '../../events/sqs/queues.ts';
import { createSender } from '../../events/sqs/sender.ts';
import { createVisibility } from '../../events/sqs/visibility.ts';
import { createClusters } from '../../shared/kube/credentials.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { createEmfMetrics } from './emf.ts';
import { secretsManagerKubeconfigs } from './secrets.ts';
import { readEnvironment } from './settings.ts';
import type { AwsCredentials } from './signature.ts';

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
  const { settings, queueUrlPrefix, kubeconfigSecretPrefix, logLevel } = readEnvironment(variables);
  const queues = prefixedQueueUrls(queueUrlPrefix);
  const credentials = secretsManagerKubeconfigs(kubeconfigSecretPrefix, {
    region: variables.AWS_REGION ?? '',
    credentials: () => environmentCredentials(variables),
    ...(variables.SECRETS_MANAGER_ENDPOINT === undefined ? {} : { endpoint: variables.SECRETS_MANAGER_ENDPOINT }),
  });
  const clusters = createClusters(credentials, { userAgent: `shoot-flux/${name}` });
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const lambda = createSqsLambda(queueFunction, {
    kube: async (cluster, signal) => (await clusters(cluster)).with({ signal }),
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

function environmentCredentials(variables: NodeJS.ProcessEnv): AwsCredentials {
  return {
    accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: variables.AWS_SESSION_TOKEN,
  };
}
