/**
 * The kinds of Flux that this product knows -> their API group. The CRDs of the installed release decide which of them
 * a Shoot has.
 */
export const fluxKinds: Readonly<Record<string, string>> = {
  GitRepository: 'source.toolkit.fluxcd.io',
  OCIRepository: 'source.toolkit.fluxcd.io',
  Bucket: 'source.toolkit.fluxcd.io',
  HelmRepository: 'source.toolkit.fluxcd.io',
  HelmChart: 'source.toolkit.fluxcd.io',
  ExternalArtifact: 'source.toolkit.fluxcd.io',
  ArtifactGenerator: 'source.extensions.fluxcd.io',
  Provider: 'notification.toolkit.fluxcd.io',
  Alert: 'notification.toolkit.fluxcd.io',
  Receiver: 'notification.toolkit.fluxcd.io',
  ImageRepository: 'image.toolkit.fluxcd.io',
  ImagePolicy: 'image.toolkit.fluxcd.io',
  ImageUpdateAutomation: 'image.toolkit.fluxcd.io',
  Kustomization: 'kustomize.toolkit.fluxcd.io',
  HelmRelease: 'helm.toolkit.fluxcd.io',
};

const order = Object.keys(fluxKinds);

/**
 * Returns the objects in the order in which they are applied: sources first, then what reports about the others, and what
 * deploys last, so that its first attempt finds the rest. Objects of one kind stay in the order of the configuration; which
 * of them waits for which is a matter of `dependsOn`.
 */
export function inOrder<T extends { kind: string }>(objects: readonly T[]): T[] {
  const rank = ({ kind }: T) => (fluxKinds[kind] === undefined ? order.length : order.indexOf(kind));
  return objects.toSorted((one, other) => rank(one) - rank(other));
}

/** Returns the API group of an apiVersion. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** Returns true for a group of Flux's own APIs. */
export function isFluxGroup(group: string): boolean {
  return group.endsWith('.toolkit.fluxcd.io') || group.endsWith('.extensions.fluxcd.io');
}
