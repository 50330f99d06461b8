import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject, Resource } from '../client/client.ts';
import { standInDistribution } from '../distribution.ts';

const release = join(standInDistribution.folder, standInDistribution.version);

/** Returns the CRDs of the landscape's own small Flux release. */
export function fluxCrds(): KubeObject[] {
  return ['source-controller', 'kustomize-controller'].flatMap((component) =>
    parseAllDocuments(readFileSync(join(release, `${component}.yaml`), 'utf8'))
      .map((document) => document.toJS() as KubeObject | null)
      .filter((object) => object?.kind === 'CustomResourceDefinition')
      .map((object) => object as KubeObject),
  );
}

const flux = (group: string, plural: string, kind: string, version = 'v1'): Resource => ({
  group: `${group}.toolkit.fluxcd.io`,
  version,
  plural,
  kind,
  namespaced: true,
});

export const gitRepositories = flux('source', 'gitrepositories', 'GitRepository');
export const ociRepositories = flux('source', 'ocirepositories', 'OCIRepository');
export const kustomizations = flux('kustomize', 'kustomizations', 'Kustomization');
export const helmReleases = flux('helm', 'helmreleases', 'HelmRelease', 'v2');
export const NAMESPACE = 'flux-system';

export const gitRepositoryFactory = (name: string, url: string, spec: object = {}): KubeObject => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  metadata: { name, namespace: NAMESPACE },
  spec: { url, interval: '1s', ref: { branch: 'main' }, ...spec },
});

export const kustomizationFactory = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name, namespace: NAMESPACE },
  spec: { interval: '1s', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' }, ...spec },
});
