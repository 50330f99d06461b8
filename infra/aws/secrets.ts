import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import type { AwsCredentials } from './signature.ts';

export interface SecretsManagerOptions {
  region: string;
  /** Called for each request: Lambda's environment always holds the current credentials. */
  credentials(): AwsCredentials;
  /** Default: the regional endpoint of the service. */
  endpoint?: string | undefined;
}

/** Reads kubeconfigs from AWS Secrets Manager; a secret's name is the prefix followed by the cluster's name. */
export function secretsManagerKubeconfigs(prefix: string, options: SecretsManagerOptions): ClusterCredentials {
  return async (cluster) => {
    const name = `${prefix}${cluster}`;
    return kubeconfigConnection(await secretString(name, options), `AWS secret ${name}`);
  };
}

async function secretString(name: string, { region, credentials, endpoint }: SecretsManagerOptions): Promise<string> {
  const url = new URL(endpoint ?? `https://secretsmanager.${region}.amazonaws.com/`);
  const body = JSON.stringify({ SecretId: name });
  // A lazy chunk: kubeconfigs are read once for each cluster, and the entry stays small.
  const { signedHeaders } = await import('./signature.ts');
  const headers = await signedHeaders({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' },
    body,
    region,
    service: 'secretsmanager',
    credentials: credentials(),
    now: new Date(),
  });
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) }).catch(
    (error) => {
      throw new ShootFluxError(`AWS secret ${name} cannot be read: ${errorMessage(error)}`);
    },
  );
  const answer = (await response.json().catch(() => ({}))) as { SecretString?: string; __type?: string };
  if (response.ok && answer.SecretString !== undefined) return answer.SecretString;
  const why = answer.__type ?? (response.ok ? 'it holds no text' : `HTTP ${response.status}`);
  throw new ShootFluxError(
    `AWS secret ${name} cannot be read: ${why}; it must hold a kubeconfig and be readable by this function's role.`,
  );
}
