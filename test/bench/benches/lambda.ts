import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SQSBatchResponse } from 'aws-lambda';
import { recordOf } from '../../../events/testing.ts';
import { definition } from '../../../functions/managed-resources/function.ts';
import { bundleFunction } from '../../../infra/bundle/bundle.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { type InstanceOptions, startInstance } from '../../real/install/aws/lambda-instance.ts';
import { lambdaRuntimeClient } from '../../real/tools/aws-tools.ts';
import { createQueues, startEmulator } from '../../sqs.ts';
import { bench } from '../bench.ts';
import { startClusters } from '../landscape/clusters.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { cluster, controlPlane, createProject, extension, namespace, SEED } from '../landscape/objects.ts';
import { median } from '../numbers.ts';

const RUNS = 9;
const write = { fieldManager: 'bench' };

/**
 * A cold process of `managed-resources`, the largest function that every Shoot needs, under AWS's runtime client. Its
 * first change installs Flux: it reads its kubeconfigs, Extension, Cluster and configuration, and writes everything.
 */
export const lambdaBench = bench(
  'lambda',
  {
    cold: {
      what: 'Lambda under its runtime client: start until its first change is handled',
      unit: 'ms',
      atMost: 1000,
    },
  },
  async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-lambda-'));
    await using clusters = await startClusters();
    const { client, kubeconfigFile } = clusters.seed;
    const queue = await startEmulator();
    await (await createQueues(queue.endpoint, [definition], { prefix: QUEUE_PREFIX })).stop();
    const secrets = await serveSecrets(await readFile(kubeconfigFile, 'utf8'));
    await createProject(client, 'Once');
    await bundleFunction(definition, folder);
    const options: InstanceOptions = {
      name: definition.name,
      runtimeClient: await lambdaRuntimeClient(),
      folder,
      handler: `${definition.name}/index.handler`,
      timeoutSeconds: 10,
      environment: lambdaEnvironment(queue.endpoint, secrets.endpoint),
    };
    const inits: number[] = [];
    const firsts: number[] = [];
    try {
      for (let run = 0; run < RUNS; run++) {
        const name = controlPlane(run);
        await client.create(resources.namespaces, namespace(name), write);
        await client.create(resources.clusters, cluster(name), write);
        await client.create(resources.extensions, extension(name), write);
        const instance = await startInstance(options);
        try {
          inits.push(await instance.ready);
          const key = { cluster: SEED, namespace: name, name: 'shoot-flux' };
          const record = recordOf({
            function: definition.name,
            key,
            cause: { type: 'resync', epoch: 1 },
          });
          const started = performance.now();
          const { batchItemFailures } = (await instance.invoke({ Records: [record] })) as SQSBatchResponse;
          firsts.push(performance.now() - started);
          const { items } = await client.list(resources.managedResources, { namespace: name });
          if (batchItemFailures.length > 0 || items.length === 0)
            throw new Error(`Nothing was written:\n${instance.output()}`);
        } finally {
          await instance.kill();
        }
      }
    } finally {
      await queue.stop();
      secrets.stop();
      await rm(folder, { recursive: true });
    }
    progress(`${inits.map((ms, run) => `${ms.toFixed(0)}+${firsts[run]?.toFixed(0)}`).join(' ')} ms`);
    const totals = inits.map((ms, run) => ms + (firsts[run] ?? Number.NaN));
    return { cold: { value: median(totals), note: `median of ${RUNS} processes` } };
  },
);

/** Start of the names of the queues. */
const QUEUE_PREFIX = 'bench-';

/** What AWS and the template put into the environment of a Lambda. */
function lambdaEnvironment(sqsEndpoint: string, secretsEndpoint: string): Record<string, string> {
  return {
    KUBECONFIG_SECRET_PREFIX: 'bench/',
    SEEDS: SEED,
    FLUX_DISTRIBUTION: fluxDistribution,
    QUEUE_URL_PREFIX: `${sqsEndpoint}/000000000000/${QUEUE_PREFIX}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    SQS_ENDPOINT: sqsEndpoint,
    SECRETS_MANAGER_ENDPOINT: secretsEndpoint,
  };
}

/** AWS Secrets Manager with the same kubeconfig for every cluster. */
async function serveSecrets(SecretString: string): Promise<{ endpoint: string; stop(): void }> {
  const server = createServer((_, outgoing) => void outgoing.end(JSON.stringify({ SecretString })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => void server.close().closeAllConnections(),
  };
}
