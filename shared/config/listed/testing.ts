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

/**
 * A pipeline written for v1beta1: two repositories, a mesh with a health check and a timeout, and what waits for it. It
 * lacks `prune` and has the field `validation`, as manifests of that time do.
 */
export const oldPipeline: object[] = [
  {
    apiVersion: 'source.toolkit.fluxcd.io/v1beta1',
    kind: 'GitRepository',
    metadata: { name: 'mesh', namespace: 'default' },
    spec: {
      interval: '1m',
      url: 'https://github.com/org/mesh',
      ref: { branch: 'master' },
      gitImplementation: 'go-git',
    },
  },
  {
    apiVersion: 'source.toolkit.fluxcd.io/v1beta1',
    kind: 'GitRepository',
    metadata: { name: 'shop', namespace: 'default' },
    spec: { interval: '1m', url: 'https://github.com/org/shop', ref: { semver: '>=1.0.0 <2.0.0' } },
  },
  oldKustomization('mesh', 'mesh', {
    path: './profiles/default/',
    healthChecks: [{ kind: 'Deployment', name: 'mesh-control', namespace: 'mesh-system' }],
    timeout: '2m',
  }),
  oldKustomization('shop-backend', 'shop', { path: './backend/', prune: true, dependsOn: [{ name: 'mesh' }] }),
  oldKustomization('shop-frontend', 'shop', {
    path: './frontend/',
    prune: true,
    dependsOn: [{ name: 'shop-backend' }],
  }),
];

function oldKustomization(name: string, source: string, spec: object): object {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta1',
    kind: 'Kustomization',
    metadata: { name, namespace: 'default' },
    spec: { interval: '10m', sourceRef: { kind: 'GitRepository', name: source }, validation: 'client', ...spec },
  };
}
