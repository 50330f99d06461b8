import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { findWebhookDefinitions, findWebhooks, type WebhookFunction } from '../functions.ts';
import { type AnswerDependencies, answer } from '../webhooks/answer.ts';
import { type CertificateFiles, certificateFromFiles } from '../webhooks/certificate-files.ts';
import type { CertificateSecret } from '../webhooks/managed-certificates.ts';
import { managedCertificates } from '../webhooks/managed-certificates.ts';
import type { PathTokens } from '../webhooks/path-token.ts';
import { publish } from '../webhooks/publish.ts';
import type { Answerer, ServedWebhook } from '../webhooks/server.ts';
import { startWebhooks, type Webhooks } from '../webhooks/webhooks.ts';

export interface WebhookOptions {
  port: number;
  /** Names or addresses under which API servers call; the certificate is issued for them. */
  hosts: string[];
  /** Files of a certificate that is issued elsewhere. Absent: shoot-flux issues its own. */
  certificate?: CertificateFiles | undefined;
  /** Where the certificates that shoot-flux issues are stored. Absent: in the garden. */
  secret?: CertificateSecret | undefined;
  configuration?: string | undefined;
  /** Names of the functions to serve. Absent: all. */
  functions?: string[] | undefined;
  /** Absent: the paths have no token. */
  tokens?: PathTokens | undefined;
}

export interface WebhookDependencies {
  clientsOf(identity: string): (cluster: string, signal?: AbortSignal) => Promise<KubeClient>;
  settings: Pick<Settings, 'seeds' | 'defaults' | 'policy'>;
  log: Log;
  metrics: Metrics;
  /** Answers the reviews of a webhook function elsewhere. Absent: in this thread. */
  answererOf?: ((name: string) => Answerer) | undefined;
}

/** Serves every webhook function, each with its own identity. The identity `webhooks` manages their certificates. */
export async function serveWebhooks(options: WebhookOptions, dependencies: WebhookDependencies): Promise<Webhooks> {
  const { clientsOf, settings, log, metrics } = dependencies;
  const { port, hosts, certificate, secret, tokens } = options;
  const served = await servedWebhooks(options.functions, dependencies);
  for (const { definition } of served) {
    metrics.count('webhook_answers_total', { function: definition.name, result: 'failed' }, 0);
  }
  const now = () => new Date();
  const kube = clientsOf('webhooks');
  const targets = {
    webhooks: served.map(({ definition }) => definition.webhook),
    seeds: settings.seeds,
    configuration: options.configuration,
  };
  const publishTo = (bundle: string, signal: AbortSignal) =>
    publish({ ...targets, kube: (cluster) => kube(cluster, signal) }, bundle);
  const certificates =
    certificate === undefined
      ? managedCertificates({ ...targets, kube, hosts, secret, now })
      : certificateFromFiles(certificate, now, publishTo);
  return startWebhooks({ port, served, tokens, certificates, log, now });
}

/** Returns the webhooks to serve, each with its own identity. @param names of their functions; undefined: all */
export async function servedWebhooks(
  names: string[] | undefined,
  { clientsOf, answererOf: answererElsewhere, ...rest }: WebhookDependencies,
): Promise<ServedWebhook[]> {
  const isServed = ({ name }: { name: string }) => names?.includes(name) !== false;
  if (answererElsewhere !== undefined) {
    const definitions = (await findWebhookDefinitions()).filter(isServed);
    return definitions.map((definition) => ({ definition, answer: answererElsewhere(definition.name) }));
  }
  const functions = (await findWebhooks()).filter(({ definition }) => isServed(definition));
  return functions.map((webhook) => {
    const { definition } = webhook;
    return { definition, answer: answererOf(webhook, { ...rest, kube: clientsOf(definition.name) }) };
  });
}

/** Returns what answers the reviews of a webhook function in this thread. */
export function answererOf(webhook: WebhookFunction, dependencies: AnswerDependencies): Answerer {
  return (body, signal) => answer(webhook, body, dependencies, signal);
}
