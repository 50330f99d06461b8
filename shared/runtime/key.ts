/**
 * What a function works on. `cluster` is `garden` or a seed's name; an Extension is `seed/namespace/shoot-flux`,
 * a project's configuration is `garden/<project namespace>/flux-config`.
 */
export interface ReconcileKey {
  cluster: string;
  namespace: string;
  name: string;
}

/** The name under which the garden is known to functions, watcher and credentials. */
export const GARDEN = 'garden';

/** One line for logs, group ids and maps. Kubernetes names have no `/`, so the text is unambiguous. */
export function keyText(key: ReconcileKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}
