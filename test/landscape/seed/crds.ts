import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../client/client.ts';
import { testData } from '../test-data.ts';

const string = { type: 'string' };
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const required = (keys: string[], properties: object = {}) => ({ ...free, required: keys, properties });

const operation = required(['type', 'state', 'progress', 'description', 'lastUpdateTime'], {
  progress: { type: 'integer' },
  lastUpdateTime: { type: 'string', format: 'date-time' },
});

/** Schemas of our own: what Gardener requires, and nothing more. */
const extension = {
  spec: { type: 'object', required: ['type'], properties: { type: string, class: string, providerConfig: free } },
  status: { ...free, properties: { observedGeneration: { type: 'integer' }, lastOperation: operation } },
};
const managedResource = {
  spec: required(['secretRefs'], {
    secretRefs: { type: 'array', items: { type: 'object', properties: { name: string } } },
    keepObjects: { type: 'boolean' },
  }),
  status: free,
};

const crd = (
  names: { group: string; kind: string; plural: string },
  properties: Record<string, object>,
  scope = 'Namespaced',
): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.${names.group}` },
  spec: {
    group: names.group,
    scope,
    names: { kind: names.kind, plural: names.plural },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties } },
        ...('status' in properties && { subresources: { status: {} } }),
      },
    ],
  },
});

const ours: Record<string, KubeObject> = {
  'extensions.gardener.cloud_clusters': crd(
    { group: 'extensions.gardener.cloud', kind: 'Cluster', plural: 'clusters' },
    { spec: free },
    'Cluster',
  ),
  'extensions.gardener.cloud_extensions': crd(
    { group: 'extensions.gardener.cloud', kind: 'Extension', plural: 'extensions' },
    extension,
  ),
  'resources.gardener.cloud_managedresources': crd(
    { group: 'resources.gardener.cloud', kind: 'ManagedResource', plural: 'managedresources' },
    managedResource,
  ),
};

/** Returns the CRDs of a seed: Gardener's own if the test data has them, else smaller ones. */
export function seedCrds(): KubeObject[] {
  return Object.entries(ours).map(([name, fallback]) => {
    const file = testData('gardener', `10-crd-${name}.yaml`);
    return file === undefined ? fallback : read(file);
  });
}

/** The files of CRDs that stand in for the resources of gardener-apiserver. */
export const gardenCrdFiles = ['shoots', 'projects'].map((name) => join(import.meta.dirname, `../crds/${name}.yaml`));

/** Returns CRDs that stand in for the resources that gardener-apiserver serves in a garden. */
export function gardenCrds(): KubeObject[] {
  return gardenCrdFiles.map(read);
}

function read(file: string): KubeObject {
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
  const found = documents.find((document) => document?.kind === 'CustomResourceDefinition');
  if (found === undefined) throw new Error(`${file} has no CustomResourceDefinition.`);
  return found;
}
