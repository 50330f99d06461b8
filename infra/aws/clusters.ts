import { errorMessage, RetryableError, ShootFluxError } from '../../shared/errors.ts';
import type { Connection, TokenFunction } from '../../shared/kube/connection.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import { type AwsEndpoint, awsQuery, signedPost } from './request.ts';
import type { Environment } from './settings.ts';

/** Returns the clients of a Lambda, which proves its AWS role to a cluster if the kubeconfig has no credentials. */
export function lambdaClusters(name: string, environment: Environment, variables: NodeJS.ProcessEnv) {
  const { kubeconfigSecretPrefix, clusterAudiencePrefix } = environment;
  const at = (endpoint: string | undefined): AwsEndpoint => ({
    region: variables.AWS_REGION ?? '',
    credentials: async () => environmentCredentials(variables),
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

function environmentCredentials(variables: NodeJS.ProcessEnv) {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = variables;
  const { AWS_SESSION_TOKEN: sessionToken } = variables;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
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

/** AWS's default: short, because the token is a bearer token, and no longer than what is left of a role's session. */
export const TOKEN_SECONDS = 300;

/** The algorithm that AWS offers beside RS256; kube-apiserver accepts both. */
export const SIGNING_ALGORITHM = 'ES384';

/** A token is replaced when this much of its time has passed. */
const REPLACE_AFTER = 0.8;

/** Adds tokens of AWS where a kubeconfig has no credentials; each is for one cluster and useless in another one. */
export function withWebIdentity(
  read: ClusterCredentials,
  audiencePrefix: string,
  sts: AwsEndpoint,
): ClusterCredentials {
  return async (cluster): Promise<Connection> => {
    const token = webIdentityToken(`${audiencePrefix}${cluster}`, sts);
    // Asked for while the kubeconfig is read. A failure is reported by the request that needs the token.
    token(false).catch(() => {});
    const connection = await read(cluster);
    const hasCredentials = connection.token !== undefined || connection.cert !== undefined;
    return hasCredentials ? connection : { ...connection, token };
  };
}

/** Returns a token of AWS for one audience, which it replaces in time and after a 401. */
export function webIdentityToken(audience: string, sts: AwsEndpoint, now: () => number = Date.now): TokenFunction {
  let current: { token: Promise<string>; replaceAt: number } | undefined;
  const token = (refresh: boolean): Promise<string> => {
    if (current !== undefined && !refresh && now() < current.replaceAt) return current.token;
    const next = { token: getWebIdentityToken(audience, sts), replaceAt: now() + TOKEN_SECONDS * 1000 * REPLACE_AFTER };
    current = next;
    next.token.catch(() => {
      if (current === next) current = undefined;
    });
    return next.token;
  };
  return Object.assign(token, { origin: `AWS ${audience}` });
}

async function getWebIdentityToken(audience: string, sts: AwsEndpoint): Promise<string> {
  const failure = `AWS STS gives no token for ${audience}`;
  const answer = await awsQuery(sts, {
    service: 'sts',
    parameters: new URLSearchParams({
      Action: 'GetWebIdentityToken',
      Version: '2011-06-15',
      'Audience.member.1': audience,
      SigningAlgorithm: SIGNING_ALGORITHM,
      DurationSeconds: String(TOKEN_SECONDS),
    }),
    failure,
    remedy: "the account must allow outbound web identity federation, and this function's role sts:GetWebIdentityToken",
  });
  const token = /<WebIdentityToken>([\w.-]+)<\/WebIdentityToken>/.exec(answer)?.[1];
  if (token === undefined) throw new RetryableError(`${failure}: its answer contains none.`);
  return token;
}
