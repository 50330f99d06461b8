import { FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { type Notice, warning } from './notice.ts';

/**
 * What Flux lacks to read a private repository over HTTP(S) (facts/flux.md 3.1); these credentials are the user's own.
 * @param data the Secret's content, or undefined when there is no Secret
 */
export function missingCredentials(namespace: string, data: Record<string, string> | undefined): Notice | undefined {
  const object = `Secret ${namespace}/${FLUX_SOURCE}`;
  const either = 'write username and password (for a token: any user name, and the token as password), or bearerToken';
  if (data === undefined)
    return warning('CredentialsMissing', `${object}: is missing; create it and ${either} into it.`);
  if (data.bearerToken !== undefined || (data['tls.crt'] !== undefined && data['tls.key'] !== undefined))
    return undefined;
  if (data.username !== undefined && data.password !== undefined) return undefined;
  const half = ['username', 'password'].find(
    (key) => data[key] === undefined && (data.username ?? data.password) !== undefined,
  );
  return half === undefined
    ? warning('CredentialsMissing', `${object}: has no credentials; ${either} into it.`)
    : warning(
        'CredentialsMissing',
        `${object}: ${half}: is missing; write it beside the other one, or write bearerToken instead.`,
      );
}
