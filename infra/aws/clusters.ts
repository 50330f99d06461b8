import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { Connection } from '../../shared/kube/connection.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import type { Environment } from './settings.ts';
import type { AwsCredentials } from './signature.ts';
import { type AwsEndpoint, signedPost } from './signed-post.ts';
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

/** Reads kubeconfigs from AWS Secrets Manager; a secret's name is the prefix followed by the cluster's name. */
export function secretsManagerKubeconfigs(prefix: string, secretsManager: AwsEndpoint): ClusterCredentials {
  return async (cluster): Promise<Connection> => {
    const name = `${prefix}${cluster}`;
    return kubeconfigConnection(await secretString(name, secretsManager), `AWS secret ${name}`);
  };
}

async function secretString(name: string, secretsManager: AwsEndpoint): Promise<string> {
  const response = await signedPost(secretsManager, {
    service: 'secretsmanager',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' },
    body: JSON.stringify({ SecretId: name }),
  }).catch((error) => {
    throw new ShootFluxError(`AWS secret ${name} cannot be read: ${errorMessage(error)}`);
  });
  const answer = (await response.json().catch(() => ({}))) as { SecretString?: string; __type?: string };
  if (response.ok && answer.SecretString !== undefined) return answer.SecretString;
  const why = answer.__type ?? (response.ok ? 'it holds no text' : `HTTP ${response.status}`);
  throw new ShootFluxError(
    `AWS secret ${name} cannot be read: ${why}; it must hold a kubeconfig and be readable by this function's role.`,
  );
}
