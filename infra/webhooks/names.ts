/** Where the identities of a deployment live, and the Service that leads to it, in garden and seed. */
export const NAMESPACE = 'shoot-flux';
export const SERVICE = 'shoot-flux';

/** The names of the Service inside its cluster: how API servers call. */
export const SERVICE_HOST = `${SERVICE}.${NAMESPACE}.svc`;

/** Name of the webhook configurations (facts/gardener.md 6). */
export const CONFIGURATION = 'gardener-extension-shoot-flux';

/** The Secret with the certificates. */
export const CERTIFICATES = 'shoot-flux-webhook-certificates';
