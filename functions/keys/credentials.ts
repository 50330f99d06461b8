import type { Repository } from '../../shared/config/flux-config.ts';
import { gitValuesProblem } from '../../shared/config/listed/secret-content.ts';
import { httpsKeys } from '../../shared/config/listed/secret-uses.ts';
import { FLUX_SOURCE } from '../../shared/config/project-config.ts';
import type { Values } from '../../shared/config/secret-values.ts';
import { type Notice, warning } from '../../shared/gardener/event.ts';

/**
 * Reports the credentials that Flux still needs for a private repository over HTTP(S): a bearer token, certificates, or
 * username and password (docs/flux-facts.md, Sources and Secrets). The user provides them, and `validate --secrets` says the
 * same.
 * @param data the Secret's content, or undefined when there is no Secret
 */
export function missingCredentials(
  namespace: string,
  data: Values | undefined,
  { url, provider }: Pick<Repository, 'url' | 'provider'>,
): Notice | undefined {
  const problem = credentialsProblem(data, provider) ?? gitValuesProblem({ url, provider }, data ?? {});
  if (problem === undefined) return undefined;
  return warning('CredentialsMissing', `Secret ${namespace}/${FLUX_SOURCE}: ${problem}.`);
}

/** Returns which credentials are missing; what they hold is another check. */
function credentialsProblem(data: Values | undefined, provider: Repository['provider']): string | undefined {
  const login = 'username and password (for a token: any username, and the token as the password), or bearerToken';
  if (data === undefined) {
    const app = 'githubAppID, githubAppInstallationID and githubAppPrivateKey';
    return `does not exist; create it with ${provider === 'github' ? app : login}`;
  }
  if (provider === 'github') return undefined;
  if (data.githubAppID !== undefined) {
    return 'has githubAppID; set repositoryProvider to github, or Flux refuses these credentials';
  }
  const missing = httpsKeys(new Set(Object.keys(data)));
  if (missing === undefined) return undefined;
  return missing === 'username' || missing === 'password'
    ? `${missing} is missing; add it, or use bearerToken instead`
    : `has no credentials; add ${login}`;
}
