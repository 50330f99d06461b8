/**
 * The default intervals: the schemas document them, and the objects get them. The first implementation used the same
 * ones, so another default changes objects in existing Shoots (decision 7).
 */
export const defaultIntervals = {
  /** `repositoryInterval` of flux-config. */
  repository: '30s',
  /** `kustomizationInterval` of flux-config. */
  kustomization: '5m',
  /** `spec.interval` in the templates of a providerConfig. */
  template: '1m',
} as const;
