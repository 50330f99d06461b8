import { RetryableError } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { publishCaBundle } from './ca-bundle.ts';
import type { CertificateSource } from './certificate-source.ts';
import { type Certificates, caBundle, findDue } from './certificates.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE } from './names.ts';
import { readCertificates, writeCertificates } from './store.ts';

export interface ManagedCertificatesOptions {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  /** Names by which the API servers call the webhooks. */
  hosts: readonly string[];
  /** The webhooks whose configurations get the authority. */
  webhooks: Pick<Webhook, 'in' | 'type'>[];
  seeds: readonly string[];
  /** With `Direct` the webhook of the resource-manager is not needed. */
  delivery: Settings['delivery'];
  now(): Date;
}

/** The options, with clients that are bound to the signal of one call. */
type BoundOptions = Omit<ManagedCertificatesOptions, 'kube'> & { kube(cluster: string): Promise<KubeClient> };

/** More lost races in a row than other processes can cause. */
const ATTEMPTS = 5;

/**
 * Provides certificates that shoot-flux issues, in a Secret of the garden that all processes of a deployment share. Each
 * call renews what is due and publishes the authorities to the API servers, so a call that is killed is completed by the
 * next one.
 */
export function managedCertificates(options: ManagedCertificatesOptions): CertificateSource {
  return {
    async current(signal) {
      const kube = (cluster: string) => options.kube(cluster, signal);
      const certificates = await upToDate({ ...options, kube });
      // The certificate is usable before the publication ends, so that a cluster that does not answer blocks no other:
      // a new authority was published before it took over, and the first one has no predecessor to keep.
      const problems = publish({ ...options, kube }, caBundle(certificates));
      return { certificate: certificates.serving, problems };
    },
  };
}

async function upToDate({ kube, hosts, now }: BoundOptions): Promise<Certificates> {
  const garden = await kube(GARDEN);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const stored = await readCertificates(garden);
    const work = findDue(stored?.certificates, hosts, now());
    const isDue = Object.values(work).includes(true);
    if (!isDue && stored?.certificates !== undefined) return stored.certificates;
    // 0.3 MB of code, needed every few days.
    const { issueDue } = await import('./issue-certificates.ts');
    const certificates = await issueDue(stored?.certificates, work, hosts, now());
    if (await writeCertificates(garden, certificates, stored)) return certificates;
  }
  throw new RetryableError(`Secret ${NAMESPACE}/${CERTIFICATES} of the garden changed during every attempt; retrying.`);
}

/** Publishes the authorities to all clusters in parallel, so that one that does not answer blocks no other. */
async function publish({ kube, webhooks, seeds, delivery }: BoundOptions, bundle: string): Promise<string[]> {
  const targets = new Map<string, { cluster: string; type: Webhook['type'] }>();
  for (const { in: place, type } of webhooks) {
    for (const cluster of place === GARDEN ? [GARDEN] : seeds) targets.set(`${cluster} ${type}`, { cluster, type });
  }
  const problems = await Promise.all(
    [...targets.values()].map(async ({ cluster, type }) => {
      try {
        if (await publishCaBundle(await kube(cluster), type, bundle)) return [];
        if (cluster !== GARDEN && delivery === 'Direct') return [];
        return [
          `${cluster} has no ${type}WebhookConfiguration ${CONFIGURATION}, so it calls no webhook; apply its manifest.`,
        ];
      } catch (error) {
        return [`${cluster}: ${describeError(error)}`];
      }
    }),
  );
  return problems.flat();
}
