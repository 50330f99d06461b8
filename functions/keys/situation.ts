import type { Repository } from '../../shared/config/repository.ts';
import type { PublicKey } from '../../shared/ssh/public-key.ts';
import type { Operation } from './pairs.ts';

/** Everything known about a private repository that Flux reads over SSH. */
export interface Situation {
  namespace: string;
  landscape: string;
  repository: Repository;
  /** The operation that the annotation on `flux-config` requests. */
  operation?: Operation | undefined;
  /** The existing Secret, its content as text; absent when there is none. */
  secret?: { data: Record<string, string>; annotations: Record<string, string>; immutable: boolean } | undefined;
  /** True: the operator does not permit `knownHosts: scan`. */
  isScanOff?: boolean | undefined;
  /** A new private key, once it has been needed. */
  identity?: string | undefined;
  /** A new private key for a rotation, once it has been needed. */
  nextIdentity?: string | undefined;
  /** The key that the host presented, once it has been needed; `none` when it presented no key. */
  scannedHostKey?: PublicKey | 'none' | undefined;
}

/** An input that is expensive to obtain: a key is only generated, and a host only contacted, when a decision needs it. */
export type Need = 'identity' | 'nextIdentity' | 'scannedHostKey';

/** Public key of the current key pair, as a line for the Git host. */
export const PUBLIC_KEY = 'flux.extensions.gardener.cloud/public-key';
/** `SHA256:…` of the current public key. */
export const FINGERPRINT = 'flux.extensions.gardener.cloud/fingerprint';
/** Public key of the pair that a rotation has prepared. */
export const NEXT_PUBLIC_KEY = 'flux.extensions.gardener.cloud/next-public-key';
/** `SHA256:…` of the prepared public key. */
export const NEXT_FINGERPRINT = 'flux.extensions.gardener.cloud/next-fingerprint';
/** `SHA256:…` of the key that the last rotation replaced, until the next rotation starts. */
export const FORMER_FINGERPRINT = 'flux.extensions.gardener.cloud/former-fingerprint';
/** Host and fingerprint of the host key that was trusted on first use. */
export const TRUSTED_HOST_KEY = 'flux.extensions.gardener.cloud/trusted-host-key';
