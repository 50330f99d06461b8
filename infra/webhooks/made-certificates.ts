import { RetryableError } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { publishCaBundle } from './ca-bundle.ts';
import type { CertificateSource } from './certificate-source.ts';
import { type Certificates, caBundle, due } from './certificates.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE } from './names.ts';
import { readCertificates, writeCertificates } from './store.ts';

export interface MadeCertificatesOptions {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  /** Names by which the API servers call. */
  hosts: readonly string[];
  /** Whose configurations get the authority. */
  webhooks: Pick<Webhook, 'in' | 'type'>[];
  seeds: readonly string[];
  /** Where the resource-manager brings nothing, its webhook may be left out. */
  delivery: Settings['delivery'];
  now(): Date;
}

/** With clients that end with the call. */
type Bound = Omit<MadeCertificatesOptions, 'kube'> & { kube(cluster: string): Promise<KubeClient> };

/** Losing against another process so often in a row means that something else is wrong. */
const ATTEMPTS = 5;

/**
 * Certificates of the deployment's own, in a Secret of the garden that all its processes share. Each call renews what
 * is due and tells the API servers whom to trust, so it may be killed anywhere: the next one goes on.
 */
export function madeCertificates(options: MadeCertificatesOptions): CertificateSource {
  return {
    async current(signal) {
      const kube = (cluster: string) => options.kube(cluster, signal);
      const certificates = await upToDate({ ...options, kube });
      // It can be served with at once, or one cluster that does not answer would keep it from all: an authority that
      // takes over has been told before, and the very first one nobody is served without.
      const problems = publish({ ...options, kube }, caBundle(certificates));
      return { certificate: certificates.serving, problems };
    },
  };
}

async function upToDate({ kube, hosts, now }: Bound): Promise<Certificates> {
  const garden = await kube(GARDEN);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const stored = await readCertificates(garden);
    const work = due(stored?.certificates, hosts, now());
    const isDue = Object.values(work).includes(true);
    if (!isDue && stored?.certificates !== undefined) return stored.certificates;
    // A third of a megabyte that is needed every few days.
    const { renewed } = await import('./make-certificates.ts');
    const certificates = await renewed(stored?.certificates, work, hosts, now());
    if (await writeCertificates(garden, certificates, stored)) return certificates;
  }
  throw new RetryableError(`Secret ${NAMESPACE}/${CERTIFICATES} of the garden changes faster than it can be written.`);
}

/** A seed that does not answer keeps no other from being told. */
async function publish({ kube, webhooks, seeds, delivery }: Bound, bundle: string): Promise<string[]> {
  const targets = new Map<string, { cluster: string; type: Webhook['type'] }>();
  for (const { in: place, type } of webhooks) {
    for (const cluster of place === GARDEN ? [GARDEN] : seeds) targets.set(`${cluster} ${type}`, { cluster, type });
  }
  const told = await Promise.all(
    [...targets.values()].map(async ({ cluster, type }) => {
      try {
        if (await publishCaBundle(await kube(cluster), type, bundle)) return [];
        if (cluster !== GARDEN && delivery === 'Direct') return [];
        return [
          `${cluster} has no ${type}WebhookConfiguration ${CONFIGURATION}, so it calls nobody: apply its manifest.`,
        ];
      } catch (error) {
        return [`${cluster}: ${describeError(error)}`];
      }
    }),
  );
  return told.flat();
}
