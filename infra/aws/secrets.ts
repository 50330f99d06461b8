import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { Connection } from '../../shared/kube/connection.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import { type AwsEndpoint, signedPost } from './signed-post.ts';

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
