/**
 * Kinds that `flux reconcile` asks. The others have no work of their own: Alerts and Providers act on events, and an
 * ExternalArtifact is made by others.
 */
export const askedKinds: ReadonlySet<string> = new Set([
  'GitRepository',
  'OCIRepository',
  'Bucket',
  'HelmRepository',
  'HelmChart',
  'ArtifactGenerator',
  'Kustomization',
  'HelmRelease',
  'Receiver',
  'ImageRepository',
  'ImagePolicy',
  'ImageUpdateAutomation',
]);
