import type { WebhookOptions } from '../process/webhooks.ts';
import { certificateFromFiles } from '../webhooks/certificate-files.ts';
import { hostOf } from '../webhooks/hosts.ts';
import { SERVICE_HOST } from '../webhooks/names.ts';
import { pathTokensOf, TOKEN_HASHES } from '../webhooks/path-token.ts';
import { type Option, UsageError, type Values } from './command.ts';
import { portOf } from './port.ts';

/** The option for the tokens in the URLs of the webhooks. */
export const tokenOptions = {
  'webhook-token-sha256': {
    type: 'string',
    value: 'HASH',
    description: `Serve the webhooks only at paths that end with a token, such as /admission/TOKEN; HASH is its SHA-256. Several hashes are separated by commas. Default: the environment variable ${TOKEN_HASHES}.`,
  },
} as const satisfies Record<string, Option>;

/** Returns the hashes of the tokens; undefined when none are required. @throws ShootFluxError */
export function tokenHashesOf(given: string | undefined): string | undefined {
  const [setting, text] =
    given === undefined
      ? [`the environment variable ${TOKEN_HASHES}`, process.env[TOKEN_HASHES] || undefined]
      : ['--webhook-token-sha256', given];
  if (text !== undefined) pathTokensOf(setting, text);
  return text;
}

/** Options of `run` for the webhooks. */
export const webhookOptions = {
  'webhook-port': {
    type: 'string',
    value: 'N',
    description: 'Serve the webhooks over HTTPS on this port: /admission and /resource-manager.',
  },
  'webhook-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    description: `Name or address under which API servers call the webhooks. Repeatable. Default: ${SERVICE_HOST}.`,
  },
  'webhook-cert': {
    type: 'string',
    value: 'FILE',
    description:
      'Serve with this certificate (PEM) instead of a generated one; you must set the caBundle of the webhooks yourself.',
  },
  'webhook-key': { type: 'string', value: 'FILE', description: 'Key of --webhook-cert (PEM).' },
  ...tokenOptions,
} as const satisfies Record<string, Option>;

/**
 * Returns undefined when no webhooks are served.
 * @throws UsageError, or ShootFluxError for a certificate that cannot be used
 */
export async function webhooksOf(values: Values<typeof webhookOptions>): Promise<WebhookOptions | undefined> {
  const { 'webhook-host': hosts, 'webhook-cert': certFile, 'webhook-key': keyFile } = values;
  const port = portOf('--webhook-port', values['webhook-port']);
  if (port === undefined) {
    const token = values['webhook-token-sha256'];
    const [other] = Object.entries({ host: hosts, cert: certFile, key: keyFile, 'token-sha256': token }).filter(
      ([, value]) => value,
    );
    if (other !== undefined) throw new UsageError(`--webhook-${other[0]} requires --webhook-port`);
    return undefined;
  }
  const tokenHashes = tokenHashesOf(values['webhook-token-sha256']);
  if (certFile === undefined && keyFile === undefined) {
    return { port, hosts: (hosts ?? [SERVICE_HOST]).map(hostFrom), tokenHashes };
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('--webhook-cert and --webhook-key require each other');
  }
  if (hosts !== undefined)
    throw new UsageError('--webhook-host cannot be combined with --webhook-cert, which has its own names');
  // The files may be replaced later, but an unusable certificate at start is the operator's mistake.
  await certificateFromFiles(certFile, keyFile, () => new Date()).current();
  return { port, hosts: [], certificate: { certFile, keyFile }, tokenHashes };
}

function hostFrom(text: string): string {
  const host = hostOf(text);
  if (host !== undefined) return host;
  throw new UsageError(
    `--webhook-host ${text} is neither a name such as ${SERVICE_HOST} nor an address such as 10.0.0.1 or 2001:db8::1`,
  );
}
