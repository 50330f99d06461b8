import type { WebhookOptions } from '../process/webhooks.ts';
import { certificateFromFiles } from '../webhooks/certificate-files.ts';
import { hostOf } from '../webhooks/hosts.ts';
import { SERVICE_HOST } from '../webhooks/names.ts';
import { pathTokensOf } from '../webhooks/path-token.ts';
import { UsageError, type Values } from './option.ts';
import type { tokenOptions, webhookOptions } from './options.ts';
import { portOf } from './port.ts';
import { isFlag, named, quoted } from './sources/origins.ts';

/** Returns the hashes of the tokens; undefined when none are required. @throws ShootFluxError */
export function tokenHashesOf(values: Values<typeof tokenOptions>): string | undefined {
  const text = values['webhook-token-sha256'];
  if (text !== undefined) pathTokensOf(named(values, 'webhook-token-sha256'), text);
  return text;
}

/** Options of `run` that have no effect without `webhook-port`. */
const dependent = ['webhook-host', 'webhook-cert', 'webhook-key', 'webhook-token-sha256'] as const;

/**
 * Returns undefined when no webhooks are served over HTTPS.
 * @param needPort options that have no effect without the port
 * @throws UsageError, or ShootFluxError for a certificate that cannot be used
 */
export async function webhooksOf(
  values: Values<typeof webhookOptions>,
  needPort: readonly (keyof typeof webhookOptions)[] = dependent,
): Promise<WebhookOptions | undefined> {
  const { 'webhook-host': hosts, 'webhook-cert': certFile, 'webhook-key': keyFile } = values;
  const port = portOf(values, 'webhook-port');
  if (port === undefined) {
    const unused = needPort.find((flag) => values[flag] !== undefined && isFlag(values, flag));
    if (unused !== undefined) throw new UsageError(`--${unused} requires --webhook-port`);
    return undefined;
  }
  const tokenHashes = tokenHashesOf(values);
  if (certFile === undefined && keyFile === undefined) {
    return { port, hosts: (hosts ?? [SERVICE_HOST]).map((text) => hostFrom(values, text)), tokenHashes };
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('--webhook-cert and --webhook-key require each other');
  }
  if (hosts !== undefined)
    throw new UsageError('--webhook-host cannot be combined with --webhook-cert, which has its own names');
  // The files may be replaced later, but an unusable certificate at start is the operator's mistake.
  await certificateFromFiles({ certFile, keyFile }, () => new Date()).current();
  return { port, hosts: [], certificate: { certFile, keyFile }, tokenHashes };
}

function hostFrom(values: object, text: string): string {
  const host = hostOf(text);
  if (host !== undefined) return host;
  throw new UsageError(
    `${quoted(values, 'webhook-host', text)} is neither a name such as ${SERVICE_HOST} nor an address such as 10.0.0.1 or 2001:db8::1`,
  );
}
