/**
 * Their labels and annotations say which objects belong to whom, and what is done with them. The last two are of Helm and
 * flux-operator: with their marks, our own Flux would count as that of another tool.
 */
const DOMAINS = ['gardener.cloud', 'fluxcd.io', 'kubernetes.io', 'k8s.io', 'meta.helm.sh', 'fluxcd.controlplane.io'];

/** True for a label or annotation in a domain of Gardener, Kubernetes, Flux or a tool that installs it. */
export function isReserved(key: string): boolean {
  return key.includes('/') && DOMAINS.some((domain) => isInDomain(key, domain));
}

/** True for a label or annotation in a domain of Gardener, whose components obey such keys. */
export function isReservedForGardener(key: string): boolean {
  return isInDomain(key, 'gardener.cloud');
}

function isInDomain(key: string, domain: string): boolean {
  const own = key.slice(0, Math.max(0, key.indexOf('/'))).toLowerCase();
  return own === domain || own.endsWith(`.${domain}`);
}
