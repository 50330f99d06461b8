import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lambdaRuntimeClient } from '../../tools/aws-tools.ts';
import { runProgram } from '../../tools/cache.ts';
import type { DeployedLambda } from './account.ts';
import type { Aws } from './aws.ts';
import { REGION } from './iam.ts';
import type { InstanceOptions } from './lambda-instance.ts';
import { type LambdaService, startLambdaService } from './lambda-service.ts';
import type { RoleCredentials } from './stand-in.ts';

/** The deployed functions, each with its own processes. */
export interface Lambdas {
  /** By the name of the function, such as `keys`. */
  services: Record<string, LambdaService>;
  stop(): Promise<void>;
}

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

/** Does what AWS Lambda does for all deployed functions with event source mappings. */
export async function startLambdas(aws: Aws, packages: string): Promise<Lambdas> {
  const deployed = await aws.account.lambdas();
  const services: Record<string, LambdaService> = {};
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
