import { generateKeyPairSync } from 'node:crypto';
import { ConfigError, issueText } from '../errors.ts';
import { effectiveConfig } from './effective-config.ts';
import { fluxConfigMapOf } from './flux-config-map.ts';
import { PROVIDER_CONFIG_API } from './provider-config-schema.ts';
import type { ConfigInputs } from './types.ts';

/** Returns inputs with a ConfigMap of these keys. */
export function withFluxConfig(data: Record<string, string>): ConfigInputs {
  return { fluxConfig: fluxConfigMapOf('garden-foo', { data }) };
}

/** Returns inputs with a FluxConfig of these fields. */
export function withConfig(fields: object, more: Partial<ConfigInputs> = {}): ConfigInputs {
  return { providerConfig: { apiVersion: PROVIDER_CONFIG_API, kind: 'FluxConfig', ...fields }, ...more };
}

/** Returns the template of a valid GitRepository with changes. */
export function gitRepository(spec: object = {}, fields: object = {}): object {
  return {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    spec: { url: 'https://github.com/org/fleet', ref: { branch: 'main' }, ...spec },
    ...fields,
  };
}

/** Returns the template of a valid OCIRepository with changes. */
export function ociRepository(spec: object = {}, fields: object = {}): object {
  return {
    kind: 'OCIRepository',
    spec: { url: 'oci://ghcr.io/org/manifests', ref: { tag: 'latest' }, ...spec },
    ...fields,
  };
}

/** Returns the template of a valid Bucket with changes. */
export function bucket(spec: object = {}): object {
  return { kind: 'Bucket', spec: { bucketName: 'fleet', endpoint: 's3.example.com', ...spec } };
}

/** Returns the template of a valid Kustomization with changes. */
export function kustomization(spec: object = {}, fields: object = {}): object {
  return { spec: { path: './clusters/production', ...spec }, ...fields };
}

/** Returns inputs with a source and a Kustomization in the FluxConfig. */
export function withTemplates(source: object, ks: object = kustomization(), fields: object = {}): ConfigInputs {
  return withConfig({ source: { template: source }, kustomization: { template: ks }, ...fields });
}

/** Returns a line of known_hosts with a new key. */
export function hostKey(host: string): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const part = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return `${host} ssh-ed25519 ${Buffer.concat([part(Buffer.from('ssh-ed25519')), part(raw)]).toString('base64')}`;
}

/** Returns the sentences about invalid inputs, `object: path: message`; none for valid ones. */
export function problems(inputs: ConfigInputs, read: () => unknown = () => effectiveConfig(inputs)): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(issueText);
    throw error;
  }
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
