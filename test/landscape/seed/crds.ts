import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../client/client.ts';
import { testData } from '../test-data.ts';

type Schema = Record<string, unknown>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const list = (items: Schema) => ({ type: 'array', items });
const object = (properties: Record<string, Schema>, required: string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const strings = { type: 'object', additionalProperties: string };
const time = { type: 'string', format: 'date-time' };

const condition = object(
  {
    type: string,
    status: string,
    reason: string,
    message: string,
    codes: list(string),
    lastTransitionTime: time,
    lastUpdateTime: time,
  },
  ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'lastUpdateTime'],
);

const extension = object({
  spec: object({ type: string, class: string, providerConfig: free }, ['type']),
  status: object({
    observedGeneration: integer,
    lastOperation: object(
      { type: string, state: string, progress: integer, description: string, lastUpdateTime: time },
      ['type', 'state', 'progress', 'description', 'lastUpdateTime'],
    ),
    lastError: object({ description: string, taskID: string, codes: list(string), lastUpdateTime: time }, [
      'description',
    ]),
    conditions: list(condition),
    providerStatus: free,
    state: free,
    resources: list(
      object({ name: string, resourceRef: object({ apiVersion: string, kind: string, name: string }) }, [
        'name',
        'resourceRef',
      ]),
    ),
  }),
});

const cluster = object({ spec: object({ cloudProfile: free, seed: free, shoot: free }) });

const managedResource = object({
  spec: object(
    {
      class: string,
      secretRefs: list(object({ name: string })),
      injectLabels: strings,
      forceOverwriteLabels: { type: 'boolean' },
      forceOverwriteAnnotations: { type: 'boolean' },
      keepObjects: { type: 'boolean' },
      deletePersistentVolumeClaims: { type: 'boolean' },
      equivalences: list(list(object({ group: string, kind: string }))),
    },
    ['secretRefs'],
  ),
  status: object({
    conditions: list(condition),
    observedGeneration: integer,
    secretsDataChecksum: string,
    resources: list(
      object({
        apiVersion: string,
        kind: string,
        namespace: string,
        name: string,
        labels: strings,
        annotations: strings,
      }),
    ),
  }),
});

interface Names {
  group: string;
  kind: string;
  plural: string;
  scope?: 'Cluster';
  status?: boolean;
}

const crd = ({ group, kind, plural, scope, status = false }: Names, schema: Schema): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: scope ?? 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        ...(status && { subresources: { status: {} } }),
      },
    ],
  },
});

const ours: Record<string, KubeObject> = {
  'extensions.gardener.cloud_clusters': crd(
    { group: 'extensions.gardener.cloud', kind: 'Cluster', plural: 'clusters', scope: 'Cluster' },
    cluster,
  ),
  'extensions.gardener.cloud_extensions': crd(
    { group: 'extensions.gardener.cloud', kind: 'Extension', plural: 'extensions', status: true },
    extension,
  ),
  'resources.gardener.cloud_managedresources': crd(
    { group: 'resources.gardener.cloud', kind: 'ManagedResource', plural: 'managedresources', status: true },
    managedResource,
  ),
};

/** Returns the CRDs of a seed: Gardener's own if the test data has them, else smaller ones with the same constraints. */
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
