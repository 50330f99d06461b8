import { GARDEN } from '../../shared/runtime/key.ts';
import { findWebhookDefinitions, pushDefinition } from '../functions.ts';
import { certificateFromFiles } from '../webhooks/certificate-files.ts';
import { hostOf } from '../webhooks/certificates.ts';
import type { CertificateSecret } from '../webhooks/managed-certificates.ts';
import { SERVICE_HOST } from '../webhooks/names.ts';
import { type PathTokens, pathTokensOf } from '../webhooks/path-token.ts';
import type { WebhookOptions } from '../webhooks/webhooks.ts';
import { UsageError, type Values } from './option.ts';
import type { pushOptions, webhookOptions } from './options.ts';
import { isFlag, named, quoted } from './sources.ts';

/** Returns the tokens of the paths; undefined when none are required. @throws ShootFluxError */
export function tokensOf(values: Values<typeof webhookOptions>): PathTokens | undefined {
  const text = values['webhook-token-sha256'];
  return text === undefined ? undefined : pathTokensOf(named(values, 'webhook-token-sha256'), text);
}

/** Options that have no effect on webhooks over HTTP. */
export const httpsOptions = [
  'webhook-host',
  'webhook-cert',
  'webhook-key',
  'webhook-ca',
  'webhook-secret',
  'webhook-configuration',
] as const;

/** Options of `run` that have no effect without `webhook-port`. */
const dependent = [...httpsOptions, 'webhook-function', 'webhook-token-sha256'] as const;

/**
 * Returns undefined when no webhooks are served over HTTPS.
 * @param needPort options that have no effect without the port
 * @throws UsageError, or ShootFluxError for a certificate that cannot be used
 */
export async function webhooksOf(
  values: Values<typeof webhookOptions & typeof pushOptions>,
  needPort: readonly (keyof typeof webhookOptions)[] = dependent,
): Promise<WebhookOptions | undefined> {
  const { 'webhook-host': hosts, 'webhook-cert': certFile, 'webhook-key': keyFile, 'webhook-ca': caFile } = values;
  const port = values['webhook-port'];
  if (port === undefined) {
    const unused = needPort.find((flag) => values[flag] !== undefined && isFlag(values, flag));
    if (unused !== undefined) throw new UsageError(`--${unused} requires --webhook-port`);
    return undefined;
  }
  const configuration = values['webhook-configuration'];
  const common = {
    ...{ port, configuration, functions: await functionsOf(values), tokens: tokensOf(values) },
    ...(takesPushes(values) && { takesPushes: true }),
  };
  if (certFile === undefined && keyFile === undefined) {
    if (caFile !== undefined) throw new UsageError('--webhook-ca requires --webhook-cert');
    return {
      ...common,
      hosts: (hosts ?? [SERVICE_HOST]).map((text) => hostFrom(values, text)),
      secret: secretOf(values),
    };
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('--webhook-cert and --webhook-key require each other');
  }
  if (hosts !== undefined)
    throw new UsageError('--webhook-host cannot be combined with --webhook-cert, which has its own names');
  // The files may be replaced later, but an unusable certificate at start is the operator's mistake.
  const certificate = { certFile, keyFile, caFile };
  await certificateFromFiles(certificate, () => new Date()).current();
  return { ...common, hosts: [], certificate };
}

/** Returns whether Git hosts may report pushes to this process. */
export function takesPushes(values: Values<typeof webhookOptions & typeof pushOptions>): boolean {
  return values['push-url'] !== undefined && values['webhook-function']?.includes(pushDefinition.name) !== false;
}

/** Returns the names of the functions to serve; undefined for all of them. @throws UsageError */
export async function functionsOf(values: Values<typeof webhookOptions>): Promise<string[] | undefined> {
  const names = values['webhook-function'];
  const webhooks = [...(await findWebhookDefinitions()), pushDefinition];
  const known = webhooks.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(`${quoted(values, 'webhook-function', unknown)} is not one of ${known.join(', ')}`);
}

/** Returns where the certificates are; undefined for the usual place. @throws UsageError */
export function secretOf(values: Pick<Values<typeof webhookOptions>, 'webhook-secret'>): CertificateSecret | undefined {
  const text = values['webhook-secret'];
  if (text === undefined) return undefined;
  const [, cluster = GARDEN, namespace, name] = /^(?:([^:/]+):)?([^:/]+)\/([^:/]+)$/.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined) return { cluster, namespace, name };
  throw new UsageError(`${quoted(values, 'webhook-secret', text)} is not of the form [CLUSTER:]NAMESPACE/NAME`);
}

function hostFrom(values: object, text: string): string {
  const host = hostOf(text);
  if (host !== undefined) return host;
  throw new UsageError(
    `${quoted(values, 'webhook-host', text)} is neither a name such as ${SERVICE_HOST} nor an address such as 10.0.0.1 or 2001:db8::1`,
  );
}
