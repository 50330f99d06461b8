import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../client/client.ts';
import { testData } from '../test-data.ts';

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const crd = (
  group: string,
  kind: string,
  properties: Record<string, object> = { spec: free, status: free },
  scope = 'Namespaced',
): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope,
    names: { kind, plural: `${kind.toLowerCase()}s` },
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

/** CRDs of our own, which accept any fields. */
const ours: Record<string, KubeObject> = {
  'extensions.gardener.cloud_clusters': crd('extensions.gardener.cloud', 'Cluster', { spec: free }, 'Cluster'),
  'extensions.gardener.cloud_extensions': crd('extensions.gardener.cloud', 'Extension'),
  'resources.gardener.cloud_managedresources': crd('resources.gardener.cloud', 'ManagedResource'),
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
