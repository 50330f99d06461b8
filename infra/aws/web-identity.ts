import { RetryableError } from '../../shared/errors.ts';
import type { Connection, TokenFunction } from '../../shared/kube/connection.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import { awsQuery } from './query.ts';
import type { AwsEndpoint } from './signed-post.ts';

/** AWS's default: short, because the token is a bearer token, and no longer than what is left of a role's session. */
export const TOKEN_SECONDS = 300;

/** The algorithm that AWS offers beside RS256; kube-apiserver accepts both. */
export const SIGNING_ALGORITHM = 'ES384';

/** A token is replaced when this much of its time has passed. */
const REPLACE_AFTER = 0.8;

/**
 * Adds tokens by which AWS says which role this function has, where a kubeconfig has no credentials. The audience ends
 * with the cluster's name, so that a cluster that receives a token cannot use it in another one.
 */
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
