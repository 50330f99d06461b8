import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import { secretsManagerKubeconfigs } from './secrets.ts';
import type { AwsCredentials } from './signature.ts';

/** Returns the clients of a Lambda: each function reaches a cluster with a kubeconfig from its own AWS secret. */
export function lambdaClusters(name: string, kubeconfigSecretPrefix: string, variables: NodeJS.ProcessEnv) {
  const credentials: ClusterCredentials = secretsManagerKubeconfigs(kubeconfigSecretPrefix, {
    region: variables.AWS_REGION ?? '',
    credentials: () => environmentCredentials(variables),
    endpoint: variables.SECRETS_MANAGER_ENDPOINT,
  });
  const clusters = createClusters(credentials, { userAgent: `shoot-flux/${name}` });
  return async (cluster: string, signal: AbortSignal) => (await clusters(cluster)).with({ signal });
}

function environmentCredentials(variables: NodeJS.ProcessEnv): AwsCredentials {
  return {
    accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: variables.AWS_SESSION_TOKEN,
  };
}
