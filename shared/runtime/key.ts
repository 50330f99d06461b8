/**
 * The object that a function works on. `cluster` is `garden` or a seed's name: an Extension is
 * `<seed>/<namespace>/shoot-flux`, a project's configuration is `garden/<project namespace>/flux-config`.
 */
export interface ReconcileKey {
  cluster: string;
  namespace: string;
  name: string;
}

/** The garden's cluster name in keys and credentials. */
export const GARDEN = 'garden';

/** Returns the name of a cluster in sentences: `the garden` or `seed foo`. */
export function clusterName(cluster: string): string {
  return cluster === GARDEN ? 'the garden' : `seed ${cluster}`;
}

/** Returns the key on one line, for logs and maps. Kubernetes names have no `/`, so the text is unambiguous. */
export function keyText(key: ReconcileKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}
