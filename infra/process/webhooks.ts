import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { findWebhooks } from '../functions.ts';
import { givenCertificate } from '../webhooks/given-certificate.ts';
import { madeCertificates } from '../webhooks/made-certificates.ts';
import { startWebhooks, type Webhooks } from '../webhooks/webhooks.ts';

/** Where and as whom the webhooks are served. */
export interface WebhookOptions {
  /** 0 takes a free one. */
  port: number;
  /** Names or addresses by which the API servers call; the certificate is made for them. */
  hosts: string[];
  /** Files with a certificate that somebody else makes. */
  certificate?: { certFile: string; keyFile: string } | undefined;
}

/** What the rest of the process lends. */
export interface Lent {
  /** Clients of one identity. */
  clientsOf(identity: string): (cluster: string, signal?: AbortSignal) => Promise<KubeClient>;
  settings: Settings;
  log: Log;
  metrics: Metrics;
}

/**
 * Serves every function that answers requests, each with its own identity; `webhooks` is that of the keeper of their
 * certificates.
 */
export async function serveWebhooks(
  { port, hosts, certificate }: WebhookOptions,
  { clientsOf, settings, log, metrics }: Lent,
): Promise<Webhooks> {
  const functions = await findWebhooks();
  for (const { definition } of functions) {
    metrics.count('webhook_answers_total', { function: definition.name, result: 'failed' }, 0);
  }
  const now = () => new Date();
  const certificates =
    certificate === undefined
      ? madeCertificates({
          kube: clientsOf('webhooks'),
          hosts,
          webhooks: functions.map(({ definition }) => definition.webhook),
          seeds: settings.seeds,
          delivery: settings.delivery,
          now,
        })
      : givenCertificate(certificate.certFile, certificate.keyFile, now);
  const served = functions.map((webhook) => ({
    ...webhook,
    surroundings: { kube: clientsOf(webhook.definition.name), settings, log, metrics },
  }));
  return startWebhooks({ port, served, certificates, log, now });
}
