import { generateKeyPairSync, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isSignedIn, startTlsFront } from './tls-front.ts';

const [APP, INSTALLATION, TOKEN] = ['4711', '12', 'ghs_token_of_the_installation'];

/**
 * Starts a GitHub Enterprise with one App, as far as Flux uses it: its API for tokens, and its repositories.
 * @param gitUrl of the Git server whose repositories it has
 */
export async function startGitHub(gitUrl: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let issued = 0;
  const isApp = ({ headers }: IncomingMessage) => {
    const [, head = '', body = '', signature = ''] =
      /^Bearer ([^.]+)\.([^.]+)\.([^.]+)$/.exec(headers.authorization ?? '') ?? [];
    const isSigned = verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
    return isSigned && JSON.parse(Buffer.from(body, 'base64url').toString()).iss === APP;
  };
  const front = await startTlsFront((incoming) => {
    if (!incoming.url?.includes('/app/'))
      return isSignedIn(incoming, 'x-access-token', TOKEN) ? gitUrl : { status: 401 };
    if (!isApp(incoming)) return { status: 403 };
    if (!incoming.url.endsWith(`/app/installations/${INSTALLATION}/access_tokens`)) return { status: 404 };
    issued++;
    return { status: 201, body: { token: TOKEN, expires_at: new Date(Date.now() + 3_600_000).toISOString() } };
  });
  return {
    ...front,
    /** Tokens that were issued. */
    issued: () => issued,
    /** The keys of the App and its installation, as `flux-source` has them. */
    app: {
      githubAppID: APP,
      githubAppInstallationID: INSTALLATION,
      githubAppPrivateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      githubAppBaseURL: `https://${front.host}/api/v3`,
    },
  };
}
