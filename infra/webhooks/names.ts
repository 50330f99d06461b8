/** Namespace of a deployment's identities, and the name of its Service, in garden and seed. */
export const NAMESPACE = 'shoot-flux';
export const SERVICE = 'shoot-flux';

/** Name of the Service inside its cluster, by which API servers call. */
export const SERVICE_HOST = `${SERVICE}.${NAMESPACE}.svc`;

/** Name of the webhook configurations, unless a deployment chooses another one. */
export const CONFIGURATION = 'gardener-extension-shoot-flux';

/** Name of the Secret with the certificates, unless a deployment chooses another one. */
export const CERTIFICATES = 'shoot-flux-webhook-certificates';
