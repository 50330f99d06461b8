import { type KubeClient, type KubeObject, type Resource, resources } from '../client/client.ts';

/** The clusters of a scenario. */
export interface Stage {
  source: KubeClient;
  target: KubeClient;
  /** The control-plane namespace. */
  namespace: string;
}

/** One step; it has the name that the recording gives it. */
export interface Step {
  step: string;
  act(stage: Stage): Promise<unknown>;
}

export interface Scenario {
  /** Of the ManagedResource. */
  name: string;
  steps: Step[];
}

const fieldManager = 'test';
const managedResources = resources.managedResources;

const configMap = (
  name: string,
  parts: { namespace?: string; annotations?: Record<string, string>; value?: string } = {},
) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: parts.namespace ?? 'kube-system',
    ...(parts.annotations && { annotations: parts.annotations }),
  },
  data: { key: parts.value ?? 'value' },
});

const deployment = (name: string, parts: { label?: string; annotations?: Record<string, string> } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'kube-system', ...(parts.annotations && { annotations: parts.annotations }) },
  spec: {
    selector: { matchLabels: { app: parts.label ?? name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'registry.example.org/main:1' }] },
    },
  },
});

const crd = (kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.lab.example.org` },
  spec: {
    group: 'lab.example.org',
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const fruit = (kind: string, name: string) => ({
  apiVersion: 'lab.example.org/v1',
  kind,
  metadata: { name, namespace: 'kube-system' },
  spec: {},
});

const text = (...documents: (object | string)[]) =>
  documents.map((document) => `---\n${typeof document === 'string' ? document : JSON.stringify(document)}\n`).join('');

const putSecret = ({ source, namespace }: Stage, name: string, content: string, immutable = false) =>
  source.apply(
    resources.secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      data: { 'objects.yaml': Buffer.from(content).toString('base64') },
      ...(immutable && { immutable }),
    },
    { fieldManager },
  );

const putManagedResource = ({ source, namespace }: Stage, name: string, secret: string) =>
  source.create(
    managedResources,
    {
      apiVersion: 'resources.gardener.cloud/v1alpha1',
      kind: 'ManagedResource',
      metadata: { name, namespace },
      spec: { secretRefs: [{ name: secret }] },
    },
    { fieldManager },
  );

const patch = ({ source, namespace }: Stage, name: string, body: unknown) =>
  source.mergePatch(managedResources, { namespace, name }, body, { fieldManager });

/** A Secret and the ManagedResource that names it. */
const create =
  (name: string, ...documents: (object | string)[]) =>
  async (stage: Stage) => {
    await putSecret(stage, `${name}-1`, text(...documents));
    await putManagedResource(stage, name, `${name}-1`);
  };

/** Puts another set into another Secret. */
const change =
  (name: string, ...documents: (object | string)[]) =>
  async (stage: Stage) => {
    await putSecret(stage, `${name}-2`, text(...documents), true);
    await patch(stage, name, { spec: { secretRefs: [{ name: `${name}-2` }] } });
  };

const remove =
  (name: string) =>
  ({ source, namespace }: Stage) =>
    source.delete(managedResources, { namespace, name });

/** Waits for the object first: in the recording a step begins when the last one has settled. */
const setFinalizers = async ({ target }: Stage, name: string, finalizers: string[]) =>
  target.mergePatch(
    resources.configMaps,
    { namespace: 'kube-system', name },
    { metadata: { finalizers } },
    { fieldManager },
  );

const FINALIZER = 'lab.example.org/hold';

const held = (name: string): KubeObject => {
  const object = configMap(name);
  return { ...object, metadata: { ...object.metadata, finalizers: [FINALIZER] } };
};

/** The recorded scenarios, by title. */
export const scenarios: Record<string, Scenario> = {
  'create, namespace is a target': {
    name: 'a',
    steps: [
      { step: 'Secret and ManagedResource created', act: create('a', configMap('a')) },
      {
        step: 'object edited in the shoot (nothing until the next pass)',
        act: ({ target }) =>
          target.mergePatch(
            resources.configMaps,
            { namespace: 'kube-system', name: 'a' },
            { data: { key: 'edited' } },
            { fieldManager },
          ),
      },
      {
        step: 'operation annotation set on the ManagedResource',
        act: (stage) => patch(stage, 'a', { metadata: { annotations: { 'gardener.cloud/operation': 'reconcile' } } }),
      },
      { step: 'new immutable Secret, secretRefs changed', act: change('a', configMap('a', { value: 'new' })) },
      { step: 'ManagedResource deleted', act: remove('a') },
    ],
  },
  'Secret missing, then created': {
    name: 'b',
    steps: [
      { step: 'ManagedResource created', act: (stage) => putManagedResource(stage, 'b', 'b-1') },
      { step: 'Secret created', act: (stage) => putSecret(stage, 'b-1', text(configMap('b'))) },
      { step: 'ManagedResource deleted', act: remove('b') },
    ],
  },
  'mutable Secret updated in place (generation does not move)': {
    name: 'c',
    steps: [
      { step: 'created', act: create('c', configMap('c')) },
      { step: 'Secret data updated', act: (stage) => putSecret(stage, 'c-1', text(configMap('c2'))) },
      { step: 'deleted', act: remove('c') },
    ],
  },
  'CRD and custom resource in one ManagedResource': {
    name: 'd',
    steps: [
      { step: 'created', act: create('d', crd('Apple'), fruit('Apple', 'd')) },
      { step: 'deleted', act: remove('d') },
    ],
  },
  'custom resource whose CRD does not exist yet': {
    name: 'e',
    steps: [
      { step: 'created', act: create('e', fruit('Pear', 'e')) },
      {
        step: 'CRD created by somebody else',
        act: ({ target }) => target.create(resources.customResourceDefinitions, crd('Pear'), { fieldManager }),
      },
      { step: 'deleted', act: remove('e') },
    ],
  },
  'object dropped from the set has a finalizer: nothing new is applied until it is gone': {
    name: 'f',
    steps: [
      { step: 'created', act: create('f', held('f-old')) },
      { step: 'set changed: f-old leaves, f-new comes', act: change('f', configMap('f-new')) },
      { step: 'finalizer removed in the shoot', act: (stage) => setFinalizers(stage, 'f-old', []) },
      { step: 'deleted', act: remove('f') },
    ],
  },
  'ManagedResource deleted while an object has a finalizer': {
    name: 'g',
    steps: [
      { step: 'created', act: create('g', held('g')) },
      { step: 'deleted', act: remove('g') },
      { step: 'finalizer removed in the shoot', act: (stage) => setFinalizers(stage, 'g', []) },
    ],
  },
  'keepObjects, then deleted, then created again': {
    name: 'h',
    steps: [
      { step: 'created', act: create('h', configMap('h')) },
      { step: 'keepObjects set', act: (stage) => patch(stage, 'h', { spec: { keepObjects: true } }) },
      { step: 'deleted', act: remove('h') },
      { step: 'created again without keepObjects', act: (stage) => putManagedResource(stage, 'h', 'h-1') },
      { step: 'deleted', act: remove('h') },
    ],
  },
  'keep-object annotation on one of two objects': {
    name: 'i',
    steps: [
      {
        step: 'created',
        act: create(
          'i',
          configMap('i-kept', { annotations: { 'resources.gardener.cloud/keep-object': 'true' } }),
          configMap('i-gone'),
        ),
      },
      { step: 'deleted', act: remove('i') },
    ],
  },
  'undecodable document beside a good one': {
    name: 'j',
    steps: [
      { step: 'created good', act: create('j', configMap('j1'), configMap('j2')) },
      { step: 'second document broken', act: change('j', configMap('j1'), 'kind: ConfigMap\nmetadata: {name: j2') },
      { step: 'deleted', act: remove('j') },
    ],
  },
  'namespace outside the targets': {
    name: 'k',
    steps: [
      {
        step: 'created',
        act: create(
          'k',
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lab-k' } },
          configMap('k', { namespace: 'lab-k' }),
        ),
      },
      { step: 'deleted after the failed pass', act: remove('k') },
    ],
  },
  'rejected by the API server (invalid)': {
    name: 'l',
    steps: [
      { step: 'created', act: create('l', configMap('l-before'), deployment('l', { label: 'other' })) },
      { step: 'deleted', act: remove('l') },
    ],
  },
  'Deployment that never becomes available; then with skip-health-check': {
    name: 'm',
    steps: [
      { step: 'created', act: create('m', deployment('m')) },
      {
        step: 'same with resources.gardener.cloud/skip-health-check',
        act: change('m', deployment('m', { annotations: { 'resources.gardener.cloud/skip-health-check': 'true' } })),
      },
      { step: 'deleted', act: remove('m') },
    ],
  },
  'ignore annotation on the ManagedResource': {
    name: 'n',
    steps: [
      { step: 'created', act: create('n', configMap('n')) },
      {
        step: 'ignored, and the set changed',
        async act(stage) {
          await putSecret(stage, 'n-2', text(configMap('n2')), true);
          await patch(stage, 'n', {
            metadata: { annotations: { 'resources.gardener.cloud/ignore': 'true' } },
            spec: { secretRefs: [{ name: 'n-2' }] },
          });
        },
      },
      { step: 'deleted', act: remove('n') },
    ],
  },
  'two documents name the same object': {
    name: 'o',
    steps: [
      { step: 'created', act: create('o', configMap('o'), configMap('o', { value: 'other' })) },
      { step: 'deleted', act: remove('o') },
    ],
  },
};

/** Resources of the shoot that the recording contains, by plural. */
export const shownResources: Record<string, Resource> = {
  configmaps: resources.configMaps,
  deployments: resources.deployments,
  namespaces: resources.namespaces,
  customresourcedefinitions: resources.customResourceDefinitions,
  apples: { group: 'lab.example.org', version: 'v1', plural: 'apples', kind: 'Apple', namespaced: true },
  pears: { group: 'lab.example.org', version: 'v1', plural: 'pears', kind: 'Pear', namespaced: true },
};
