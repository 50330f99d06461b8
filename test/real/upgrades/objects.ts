import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';

const source = { kind: 'GitRepository', name: 'fleet' };

/** A spec of each kind that all versions of it, and all releases, accept. */
export const validSpecs: Readonly<Record<string, Record<string, unknown>>> = {
  GitRepository: { interval: '1m', url: 'https://git.example/a' },
  HelmRepository: { interval: '1m', url: 'https://charts.example' },
  HelmChart: { interval: '1m', chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } },
  Bucket: { interval: '1m', bucketName: 'fleet', endpoint: 's3.example' },
  OCIRepository: { interval: '1m', url: 'oci://registry.example/a' },
  ExternalArtifact: {},
  ArtifactGenerator: {
    sources: [{ alias: 'fleet', ...source }],
    artifacts: [{ name: 'all', copy: [{ from: '@fleet/**', to: '@artifact/' }] }],
  },
  Kustomization: { interval: '1m', prune: false, sourceRef: source },
  HelmRelease: {
    interval: '1m',
    chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
  },
  Receiver: { type: 'generic', secretRef: { name: 'token' }, resources: [source] },
  Alert: { providerRef: { name: 'chat' }, eventSources: [source] },
  Provider: { type: 'generic', address: 'https://hook.example' },
  ImageRepository: { interval: '1m', image: 'ghcr.io/stefanprodan/podinfo' },
  ImagePolicy: { imageRepositoryRef: { name: 'podinfo' }, policy: { semver: { range: '>=1.0.0' } } },
  ImageUpdateAutomation: {
    interval: '1m',
    sourceRef: source,
    git: { commit: { author: { email: 'bot@example.com' } }, push: { branch: 'main' } },
  },
};

/** Returns an object of the kind of a CRD, in one version. */
export function objectOf(crd: KubeObject, version: string): { resource: Resource; object: KubeObject } {
  const [group = '', kind = '', plural = ''] = [
    textAt(crd.spec, 'group'),
    textAt(crd.spec, 'names', 'kind'),
    textAt(crd.spec, 'names', 'plural'),
  ];
  const spec = validSpecs[kind];
  if (spec === undefined) throw new Error(`add a spec of ${kind}`);
  const resource = { group, version, plural, kind, namespaced: true };
  const metadata = { namespace: 'default', name: `stored-${version}`, labels: { team: 'a' } };
  return { resource, object: { apiVersion: `${group}/${version}`, kind, metadata, spec } };
}

/** The names of the versions that a CRD serves. */
export function servedVersions(crd: KubeObject): string[] {
  return entriesAt(crd.spec, 'versions')
    .filter(({ served }) => served === true)
    .flatMap((version) => textAt(version, 'name') ?? []);
}

/** The spec of a CRD that stores another version. */
export function storing(crd: KubeObject, version: string): Record<string, unknown> {
  const versions = entriesAt(crd.spec, 'versions').map((one) => ({ ...one, storage: one.name === version }));
  return { spec: { versions } };
}
