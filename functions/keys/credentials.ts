import type { Repository } from '../../shared/config/flux-config.ts';
import { FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { githubAppProblem } from '../../shared/config/project-secret-content.ts';
import { type Notice, warning } from '../../shared/gardener/event.ts';
import { readIdentity } from './identity.ts';

/** Tools such as `echo` and editors add it, and the host then refuses what looks right. */
const LINE_BREAK = /[\r\n]$/;
const ENDS_WITH_LINE_BREAK =
  "ends with a line break, which Flux would send along; write it without one, for example with printf '%s' instead of echo";

/**
 * Reports the credentials that Flux still needs for a private repository over HTTP(S): a bearer token, a client
 * certificate, or username and password (docs/flux-facts.md, Sources and Secrets). The user provides them.
 * @param data the Secret's content, or undefined when there is no Secret
 * @param provider `github`: the credentials of a GitHub App
 */
export function missingCredentials(
  namespace: string,
  data: Record<string, string> | undefined,
  provider?: Repository['provider'],
): Notice | undefined {
  if (provider === 'github') return missingGithubApp(namespace, data);
  const credentials =
    'username and password (for a token: any username, and the token as the password), or bearerToken';
  if (data === undefined) return missing(namespace, `does not exist; create it with ${credentials}`);
  if (data.githubAppID !== undefined) {
    return missing(namespace, 'has githubAppID; set repositoryProvider to github, or Flux refuses these credentials');
  }
  const broken = ['username', 'password', 'bearerToken'].find((name) => LINE_BREAK.test(data[name] ?? ''));
  if (broken !== undefined) return missing(namespace, `${broken} ${ENDS_WITH_LINE_BREAK}`);
  if (data.bearerToken !== undefined) return undefined;
  if (data['tls.crt'] !== undefined && data['tls.key'] !== undefined) return undefined;
  const { username, password } = data;
  if (username !== undefined && password !== undefined) return undefined;
  if (username !== undefined) return missing(namespace, 'password is missing; add it, or use bearerToken instead');
  if (password !== undefined) return missing(namespace, 'username is missing; add it, or use bearerToken instead');
  return missing(namespace, `has no credentials; add ${credentials}`);
}

function missingGithubApp(namespace: string, data: Record<string, string> | undefined): Notice | undefined {
  const keys = 'githubAppID, githubAppInstallationID and githubAppPrivateKey';
  if (data === undefined) return missing(namespace, `does not exist; create it with ${keys}`);
  const problem = githubAppProblem(data) ?? keyProblem(data.githubAppPrivateKey ?? '');
  return problem === undefined ? undefined : missing(namespace, problem);
}

/** GitHub issues RSA keys only. */
function keyProblem(pem: string): string | undefined {
  const read = readIdentity(pem, undefined);
  const remedy = 'add the whole file that GitHub has generated';
  if ('problem' in read) return `githubAppPrivateKey ${read.problem}; ${remedy}`;
  return read.publicKey.type === 'ssh-rsa' ? undefined : `githubAppPrivateKey is no RSA key; ${remedy}`;
}

function missing(namespace: string, problem: string): Notice {
  return warning('CredentialsMissing', `Secret ${namespace}/${FLUX_SOURCE}: ${problem}.`);
}
