import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { startEventSource } from '../../../sqs.ts';
import { lambdaRuntimeClient } from '../../tools/aws-tools.ts';
import { runProgram } from '../../tools/cache.ts';
import type { DeployedLambda } from './account.ts';
import type { Aws } from './aws.ts';
import { REGION } from './iam.ts';
import { type Instance, type InstanceOptions, startInstance } from './lambda-instance.ts';
import type { RoleCredentials } from './stand-in.ts';

/** Returns how an instance of a deployed Lambda is started: from its package, with its environment and its role. */
export async function instanceOptionsOf(
  aws: Aws,
  lambda: DeployedLambda,
  packages: string,
): Promise<InstanceOptions & { credentials: RoleCredentials }> {
  const { FunctionName, Handler, Timeout, Environment } = lambda;
  const name = FunctionName.replace('shoot-flux-prod-', '');
  const archive = join(packages, `${name}.zip`);
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('base64');
  if (sha256 !== lambda.CodeSha256) throw new Error(`${archive} is not what was deployed.`);
  // Not beside the packages: the next deployment empties their folder, while instances still run.
  const folder = join(dirname(packages), 'unpacked', name);
  await mkdir(folder, { recursive: true });
  await runProgram('python3', ['-m', 'zipfile', '-e', archive, folder], packages);
  const credentials = aws.credentialsOf(lambda.Role.split('/').at(-1) ?? '');
  return {
    name: FunctionName,
    runtimeClient: await lambdaRuntimeClient(),
    folder,
    handler: Handler,
    timeoutSeconds: Timeout,
    credentials,
    environment: {
      ...Environment?.Variables,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      // The only difference from AWS: where its services are.
      SQS_ENDPOINT: aws.endpoint,
      SECRETS_MANAGER_ENDPOINT: aws.endpoint,
      STS_ENDPOINT: aws.endpoint,
    },
  };
}

/** The deployed functions, each with its own processes. */
export type Lambdas = Awaited<ReturnType<typeof startLambdas>>;

/** Does what AWS Lambda does for all deployed functions with event source mappings. */
export async function startLambdas(aws: Aws, packages: string) {
  const deployed = await aws.account.lambdas();
  /** By the name of the function, such as `keys`. */
  const services: Record<string, Awaited<ReturnType<typeof startLambdaService>>> = {};
  for (const { EventSourceArn, FunctionArn, BatchSize, ScalingConfig } of await aws.account.mappings()) {
    const lambda = deployed.find(({ FunctionName }) => FunctionArn.endsWith(`:${FunctionName}`));
    if (lambda === undefined) throw new Error(`${FunctionArn} is not deployed.`);
    const options = {
      ...(await instanceOptionsOf(aws, lambda, packages)),
      queueUrl: aws.account.queueUrl(EventSourceArn),
      batchSize: BatchSize,
      maximumConcurrency: ScalingConfig.MaximumConcurrency,
    };
    services[lambda.FunctionName.replace('shoot-flux-prod-', '')] = await startLambdaService(options, aws.endpoint);
  }
  return {
    services,
    async stop() {
      await Promise.all(Object.values(services).map((service) => service.stop()));
    },
  };
}

/** A deployed function whose events come from a queue. */
interface QueueLambda extends InstanceOptions {
  queueUrl: string;
  batchSize: number;
  maximumConcurrency: number;
  /** Those of its role: AWS receives and deletes with them. */
  credentials: RoleCredentials;
}

/** Receives batches and hands them to instances, which are started as needed, up to the maximum concurrency. */
async function startLambdaService(lambda: QueueLambda, endpoint: string) {
  const { credentials } = lambda;
  const client = new SQSClient({ endpoint, region: REGION, credentials });
  const all = new Set<Instance>();
  const idle: Instance[] = [];
  const ended: string[] = [];

  const takeInstance = async (): Promise<Instance> => {
    const warm = idle.pop();
    if (warm !== undefined && !warm.ended) return warm;
    const instance = await startInstance(lambda);
    all.add(instance);
    await instance.ready;
    return instance;
  };
  const invoke = async (event: SQSEvent): Promise<SQSBatchResponse | undefined> => {
    try {
      const instance = await takeInstance();
      const response = (await instance.invoke(event)) as SQSBatchResponse | undefined;
      idle.push(instance);
      return response;
    } finally {
      for (const instance of all) {
        if (!instance.ended) continue;
        all.delete(instance);
        ended.push(instance.output());
      }
    }
  };
  const { queueUrl, batchSize, maximumConcurrency: concurrency } = lambda;
  const source = startEventSource({ client, queueUrl, batchSize, concurrency, invoke });
  return {
    instances: () => [...all].filter((instance) => !instance.ended),
    output: () => [...ended, ...[...all].map((instance) => instance.output())].join('\n').slice(-6000),
    async stop() {
      const stopped = source.stop();
      const killAll = () => Promise.all([...all].map((instance) => instance.kill()));
      await killAll();
      await stopped;
      // A batch may have been about to start one.
      await killAll();
      client.destroy();
    },
  };
}
