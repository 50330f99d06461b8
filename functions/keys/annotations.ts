/** The public half of the key pair, as a line for the hosting site. */
export const PUBLIC_KEY = 'flux.extensions.gardener.cloud/public-key';
/** `SHA256:…` of that key. */
export const FINGERPRINT = 'flux.extensions.gardener.cloud/fingerprint';
/** The same of the key pair that a rotation has prepared. */
export const NEXT_PUBLIC_KEY = 'flux.extensions.gardener.cloud/next-public-key';
export const NEXT_FINGERPRINT = 'flux.extensions.gardener.cloud/next-fingerprint';
/** `SHA256:…` of the key that the last rotation has replaced, until the next one is prepared. */
export const FORMER_FINGERPRINT = 'flux.extensions.gardener.cloud/former-fingerprint';
/** Host and fingerprint of the host key that was trusted on first use. */
export const TRUSTED_HOST_KEY = 'flux.extensions.gardener.cloud/trusted-host-key';
