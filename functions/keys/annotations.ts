/** The public half of the key pair, as a line for the hosting site. */
export const PUBLIC_KEY = 'flux.extensions.gardener.cloud/public-key';
/** `SHA256:…` of that key. */
export const FINGERPRINT = 'flux.extensions.gardener.cloud/fingerprint';
/** Host and fingerprint of the host key that was trusted on first use. */
export const TRUSTED_HOST_KEY = 'flux.extensions.gardener.cloud/trusted-host-key';
