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
