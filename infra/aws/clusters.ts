import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import { secretsManagerKubeconfigs } from './secrets.ts';
import type { Environment } from './settings.ts';
import type { AwsCredentials } from './signature.ts';
import type { AwsEndpoint } from './signed-post.ts';
import { withWebIdentity } from './web-identity.ts';

/**
 * Returns the clients of a Lambda: each function reaches a cluster with the kubeconfig of an AWS secret, and proves its
 * AWS role to the cluster if the kubeconfig has no credentials.
 */
export function lambdaClusters(
  name: string,
  {
    kubeconfigSecretPrefix,
    clusterAudiencePrefix,
  }: Pick<Environment, 'kubeconfigSecretPrefix' | 'clusterAudiencePrefix'>,
  variables: NodeJS.ProcessEnv,
) {
  const at = (endpoint: string | undefined): AwsEndpoint => ({
    region: variables.AWS_REGION ?? '',
    credentials: () => environmentCredentials(variables),
    endpoint,
  });
  const kubeconfigs = secretsManagerKubeconfigs(kubeconfigSecretPrefix, at(variables.SECRETS_MANAGER_ENDPOINT));
  const credentials: ClusterCredentials =
    clusterAudiencePrefix === undefined
      ? kubeconfigs
      : withWebIdentity(kubeconfigs, clusterAudiencePrefix, at(variables.STS_ENDPOINT));
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
