import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fluxDistribution } from './flux-distribution.ts';
import { SEED } from './objects.ts';

/** Start of the names of the queues. */
export const QUEUE_PREFIX = 'bench-';

/** What AWS and the template put into the environment of a Lambda. */
export function lambdaEnvironment(sqsEndpoint: string, secretsEndpoint: string): Record<string, string> {
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
export async function serveSecrets(SecretString: string): Promise<{ endpoint: string; stop(): void }> {
  const server = createServer((_, outgoing) => void outgoing.end(JSON.stringify({ SecretString })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => void server.close().closeAllConnections(),
  };
}
