import { FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { type Notice, warning } from './notice.ts';

/**
 * Reports the credentials that Flux still needs for a private repository over HTTP(S): a bearer token, a client
 * certificate, or username and password (docs/flux-facts.md, Sources and Secrets). The user provides them.
 * @param data the Secret's content, or undefined when there is no Secret
 */
export function missingCredentials(namespace: string, data: Record<string, string> | undefined): Notice | undefined {
  const credentials =
    'username and password (for a token: any username, and the token as the password), or bearerToken';
  if (data === undefined) return missing(namespace, `does not exist; create it with ${credentials}`);
  if (data.bearerToken !== undefined) return undefined;
  if (data['tls.crt'] !== undefined && data['tls.key'] !== undefined) return undefined;
  const { username, password } = data;
  if (username !== undefined && password !== undefined) return undefined;
  if (username !== undefined) return missing(namespace, 'password is missing; add it, or use bearerToken instead');
  if (password !== undefined) return missing(namespace, 'username is missing; add it, or use bearerToken instead');
  return missing(namespace, `has no credentials; add ${credentials}`);
}

function missing(namespace: string, problem: string): Notice {
  return warning('CredentialsMissing', `Secret ${namespace}/${FLUX_SOURCE}: ${problem}.`);
}
