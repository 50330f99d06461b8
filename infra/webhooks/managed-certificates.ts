import { createPrivateKey, X509Certificate } from 'node:crypto';
import { RetryableError, ShootFluxError } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError, NotFoundError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { type CertificateSource, type Certificates, caBundle, type KeyPair, renewed } from './certificates.ts';
import { CERTIFICATES, NAMESPACE } from './names.ts';

interface ManagedCertificatesOptions {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  hosts: readonly string[];
  secret?: CertificateSecret | undefined;
  now(): Date;
}

/** More lost races in a row than other processes can cause. */
const ATTEMPTS = 5;

/** Provides certificates in a Secret that all processes share. Each call completes one that was killed. */
export function managedCertificates(options: ManagedCertificatesOptions): CertificateSource {
  const { kube, hosts, secret = defaultSecret, now } = options;
  const { cluster, namespace, name } = secret;
  return {
    async current(signal) {
      const client = await kube(cluster, signal);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const stored = await readCertificates(client, secret);
        const certificates = await renewed(stored?.certificates, hosts, now());
        if (certificates === stored?.certificates || (await writeCertificates(client, certificates, stored, secret)))
          return { certificate: certificates.serving, authorities: caBundle(certificates) };
      }
      throw new RetryableError(`${cluster}: Secret ${namespace}/${name} changed during every attempt; retrying.`);
    },
  };
}

interface Stored {
  /** Undefined when they cannot be read; they are then issued again. */
  certificates: Certificates | undefined;
  resourceVersion: string | undefined;
}

export interface CertificateSecret {
  /** The garden, a seed, or `in-cluster`. */
  cluster: string;
  namespace: string;
  name: string;
}

/** The Secret of a deployment that chooses no other one. */
export const defaultSecret: CertificateSecret = { cluster: GARDEN, namespace: NAMESPACE, name: CERTIFICATES };

const options = { fieldManager: 'shoot-flux-webhooks' };

/** Reads the Secret; undefined when there is none. */
export async function readCertificates(client: KubeClient, place = defaultSecret): Promise<Stored | undefined> {
  const { cluster: _, ...name } = place;
  const secret = await client.find<KubeObject & { data?: Record<string, string> }>(resources.secrets, name);
  if (secret === undefined) return undefined;
  return { certificates: certificatesIn(secret.data ?? {}), resourceVersion: secret.metadata.resourceVersion };
}

/** Writes the certificates, unless another process was faster. @returns whether they were written */
async function writeCertificates(
  client: KubeClient,
  certificates: Certificates,
  before: Stored | undefined,
  { cluster, ...place }: CertificateSecret,
): Promise<boolean> {
  try {
    if (before === undefined) {
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: place, type: 'Opaque', data: dataOf(certificates) };
      await client.create(resources.secrets, secret, options);
    } else {
      const patch = { metadata: { resourceVersion: before.resourceVersion }, data: dataOf(certificates) };
      await client.mergePatch(resources.secrets, place, patch, options);
    }
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    if (!(error instanceof NotFoundError)) throw error;
    // The Secret was deleted since it was read.
    if (before !== undefined) return false;
    throw new ShootFluxError(
      `${titles[cluster] ?? `Seed ${cluster}`} has no namespace ${place.namespace} for the webhook certificates; ${remedy(place.namespace)}.`,
    );
  }
}

const titles: Record<string, string> = { [GARDEN]: 'The garden', [IN_CLUSTER]: 'The cluster of this process' };

function remedy(namespace: string): string {
  return namespace === NAMESPACE
    ? 'apply infra/gardener/rbac-garden.yaml'
    : 'create it, or choose another --webhook-secret';
}

/** The Secret's data: of several authorities, certificates and keys are one after the other. */
function dataOf({ authorities, serving }: Certificates): Record<string, string> {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  return {
    'ca.crt': base64(authorities.map(({ cert }) => cert).join('')),
    'ca.key': base64(authorities.map(({ key }) => key).join('')),
    'tls.crt': base64(serving.cert),
    'tls.key': base64(serving.key),
  };
}

/** Returns the certificates in the Secret's data; undefined when they are incomplete, or do not belong together. */
function certificatesIn(data: Record<string, string>): Certificates | undefined {
  const texts = (name: string) =>
    Buffer.from(data[name] ?? '', 'base64')
      .toString('utf8')
      .match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? [];
  const pairs = (name: string): KeyPair[] => {
    const keys = texts(`${name}.key`);
    return texts(`${name}.crt`).map((cert, index) => ({ cert, key: keys[index] ?? '' }));
  };
  const [authorities, [serving]] = [pairs('ca'), pairs('tls')];
  if (authorities.length === 0 || serving === undefined) return undefined;
  const belong = ({ cert, key }: KeyPair) => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  try {
    return [...authorities, serving].every(belong) ? { authorities, serving } : undefined;
  } catch {
    return undefined;
  }
}
