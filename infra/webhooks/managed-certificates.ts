import { RetryableError } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type CertificateSource, type Certificates, caBundle, findDue } from './certificates.ts';
import { type PublishOptions, publish } from './publish.ts';
import { type CertificateSecret, defaultSecret, readCertificates, writeCertificates } from './store.ts';

export interface ManagedCertificatesOptions extends Omit<PublishOptions, 'kube'> {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  hosts: readonly string[];
  secret?: CertificateSecret | undefined;
  now(): Date;
}

/** The options, with clients that are bound to the signal of one call. */
type BoundOptions = Omit<ManagedCertificatesOptions, 'kube'> & { kube(cluster: string): Promise<KubeClient> };

/** More lost races in a row than other processes can cause. */
const ATTEMPTS = 5;

/** Provides certificates in a Secret that all processes share. Each call completes one that was killed. */
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

async function upToDate({ kube, hosts, secret = defaultSecret, now }: BoundOptions): Promise<Certificates> {
  const client = await kube(secret.cluster);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const stored = await readCertificates(client, secret);
    const work = findDue(stored?.certificates, hosts, now());
    const isDue = Object.values(work).includes(true);
    if (!isDue && stored?.certificates !== undefined) return stored.certificates;
    // 0.3 MB of code, needed every few days.
    const { issueDue } = await import('./issue-certificates.ts');
    const certificates = await issueDue(stored?.certificates, work, hosts, now());
    if (await writeCertificates(client, certificates, stored, secret)) return certificates;
  }
  const { cluster, namespace, name } = secret;
  throw new RetryableError(`${cluster}: Secret ${namespace}/${name} changed during every attempt; retrying.`);
}
