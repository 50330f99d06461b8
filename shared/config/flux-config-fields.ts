/**
 * The keys of flux-config that are not options of the installation -> the field that each sets in the effective
 * configuration. Errors and remedies name keys by this map.
 */
export const fluxConfigFields = {
  repositoryUrl: 'source.spec.url',
  repositoryType: 'source.spec.secretRef',
  repositoryProvider: 'source.spec.provider',
  repositoryBranch: 'source.spec.ref.branch',
  repositoryTag: 'source.spec.ref.tag',
  repositorySemver: 'source.spec.ref.semver',
  repositoryCommit: 'source.spec.ref.commit',
  repositoryInterval: 'source.spec.interval',
  repositoryPath: 'kustomization.spec.path',
  kustomizationInterval: 'kustomization.spec.interval',
  syncMode: 'syncMode',
  deletionPolicy: 'deletionPolicy',
  suspend: 'suspend',
  adopt: 'adopt',
} as const;

/** Returns the key of flux-config that sets a field, undefined if only a providerConfig can set it. */
export function fluxConfigKey(field: string): string | undefined {
  return Object.entries(fluxConfigFields).find(([, set]) => set === field)?.[0];
}
