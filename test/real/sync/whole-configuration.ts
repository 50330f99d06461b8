const HOUR = { interval: '1h' };
const CA = { certSecretRef: { name: 'registry-ca' } };

/** What `config.yaml` says beside the private repository of `flux-config`: one object of each kind that works together. */
export function wholeConfiguration(registry: string): object {
  return {
    flux: { componentsExtra: ['image-reflector-controller'] },
    additionalSecretResources: [{ name: 'registry-ca' }, { name: 'chart-values' }, { name: 'events' }],
    objects: [
      object('Alert', 'all', {
        providerRef: { name: 'sink' },
        eventSources: [
          { kind: 'Kustomization', name: '*' },
          { kind: 'HelmRelease', name: '*' },
        ],
      }),
      object('Provider', 'sink', { type: 'generic', secretRef: { name: 'events' } }),
      // Waits for the base, which waits for the root.
      object('Kustomization', 'apps', {
        ...{ ...HOUR, path: './apps', prune: true, wait: true, targetNamespace: 'default' },
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' },
        dependsOn: [{ name: 'base' }],
      }),
      object('Kustomization', 'base', {
        ...{ ...HOUR, path: './', prune: true, wait: true, targetNamespace: 'default' },
        sourceRef: { kind: 'OCIRepository', name: 'manifests' },
        dependsOn: [{ name: 'main-ks' }],
      }),
      object('OCIRepository', 'manifests', {
        ...{ ...HOUR, ...CA, url: `oci://${registry}/fleet/manifests`, ref: { tag: 'v1' } },
      }),
      object('HelmRepository', 'charts', { ...HOUR, ...CA, type: 'oci', url: `oci://${registry}/charts` }),
      object('HelmRelease', 'first', {
        ...{ ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' },
        chart: {
          spec: { chart: 'first', version: '1.x', sourceRef: { kind: 'HelmRepository', name: 'charts' } },
        },
        valuesFrom: [{ kind: 'Secret', name: 'chart-values' }],
      }),
      object('OCIRepository', 'second-chart', {
        ...{ ...HOUR, ...CA, url: `oci://${registry}/charts/second`, ref: { semver: '1.x' } },
        layerSelector: { mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', operation: 'copy' },
      }),
      object('HelmRelease', 'second', {
        ...{ ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' },
        chartRef: { kind: 'OCIRepository', name: 'second-chart' },
        values: { color: 'plum' },
        dependsOn: [{ name: 'first' }],
      }),
      object('ImageRepository', 'manifests', { ...HOUR, ...CA, image: `${registry}/fleet/manifests` }),
      object('ImagePolicy', 'manifests', {
        imageRepositoryRef: { name: 'manifests' },
        policy: { alphabetical: {} },
      }),
    ],
  };
}

function object(kind: string, name: string, spec: object): object {
  return { kind, metadata: { name }, spec };
}
