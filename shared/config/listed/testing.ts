import { PROVIDER_CONFIG_API } from '../provider-config-schema.ts';
import type { ConfigInputs } from '../types.ts';

/** Returns inputs with lists in the FluxConfig, as operators of Flux paste them. */
export function withLists(lists: object, more: Partial<ConfigInputs> = {}): ConfigInputs {
  return { providerConfig: { apiVersion: PROVIDER_CONFIG_API, kind: 'FluxConfig', ...lists }, ...more };
}

/** Returns a manifest of a GitRepository. */
export function git(name: string, spec: object = {}): object {
  return {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata: { name },
    spec: { interval: '5m', url: `https://github.com/org/${name}`, ref: { branch: 'main' }, ...spec },
  };
}

/** Returns a manifest of a Kustomization that reads a GitRepository. */
export function kustomize(name: string, source: string, spec: object = {}): object {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name },
    spec: { interval: '10m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: source }, ...spec },
  };
}

/** Returns a manifest of a HelmRelease. */
export function helmRelease(name: string, repository: string, spec: object = {}): object {
  const sourceRef = { kind: 'HelmRepository', name: repository };
  return {
    kind: 'HelmRelease',
    metadata: { name },
    spec: { interval: '10m', chart: { spec: { chart: name, sourceRef } }, ...spec },
  };
}

/** Returns a manifest of a HelmRepository. */
export function helmRepository(name: string, spec: object = {}): object {
  return {
    kind: 'HelmRepository',
    metadata: { name },
    spec: { interval: '1h', url: 'https://charts.example.com', ...spec },
  };
}

/** Manifests written for v1beta1: they lack `prune`, and have fields that the API has dropped since. */
export const oldPipeline: object[] = [
  {
    apiVersion: 'source.toolkit.fluxcd.io/v1beta1',
    kind: 'GitRepository',
    metadata: { name: 'mesh', namespace: 'default' },
    spec: { interval: '1m', url: 'https://github.com/org/mesh', ref: { branch: 'main' }, gitImplementation: 'go-git' },
  },
  {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta1',
    kind: 'Kustomization',
    metadata: { name: 'mesh', namespace: 'default' },
    spec: {
      ...{ interval: '10m', sourceRef: { kind: 'GitRepository', name: 'mesh' }, path: './profiles', timeout: '2m' },
      healthChecks: [{ kind: 'Deployment', name: 'mesh-control', namespace: 'mesh-system' }],
      validation: 'client',
    },
  },
];
