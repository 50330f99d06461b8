import type { KubeObject } from '../kube/resource.ts';

/**
 * A kustomize-controller leaves an object with these annotations alone, whatever its sources hold: a repository with its
 * own `gotk-components.yaml` must not fight with us about Flux (docs/flux-facts.md, decision 51).
 */
export const protection = {
  'kustomize.toolkit.fluxcd.io/ssa': 'Ignore',
  'kustomize.toolkit.fluxcd.io/prune': 'Disabled',
} as const;

/** Returns an installed object with the protection. Its Pods stay: only the metadata of the object itself changes. */
export function withProtection(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, ...protection };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
