import type { Resource } from '../../../shared/kube/resource.ts';

const flux = (group: string, plural: string, kind: string, version = 'v1'): Resource => ({
  ...{ group: `${group}.toolkit.fluxcd.io`, version, plural, kind, namespaced: true },
});

/** The kinds of Flux with a status, by their plural. */
export const fluxKinds = {
  gitRepositories: flux('source', 'gitrepositories', 'GitRepository'),
  ociRepositories: flux('source', 'ocirepositories', 'OCIRepository'),
  helmRepositories: flux('source', 'helmrepositories', 'HelmRepository'),
  helmCharts: flux('source', 'helmcharts', 'HelmChart'),
  kustomizations: flux('kustomize', 'kustomizations', 'Kustomization'),
  helmReleases: flux('helm', 'helmreleases', 'HelmRelease', 'v2'),
  imageRepositories: flux('image', 'imagerepositories', 'ImageRepository'),
  imagePolicies: flux('image', 'imagepolicies', 'ImagePolicy'),
} as const;

/** With the kinds that these suites need in a single place. */
export const allKinds = {
  ...fluxKinds,
  buckets: flux('source', 'buckets', 'Bucket'),
  receivers: flux('notification', 'receivers', 'Receiver'),
} as const;
