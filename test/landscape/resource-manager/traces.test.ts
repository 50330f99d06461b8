import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Resource, resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/work-queue.ts';
import { seedCrds } from '../seed/crds.ts';
import { recordingsMissing, testData } from '../test-data.ts';
import type { FullManagedResource } from './references.ts';
import { defaultTargetNamespaces, startResourceManager } from './start.ts';

/** Replays a recording of the real gardener-resource-manager against the stand-in. */

/** One version of a ManagedResource, as the recording has it. */
interface Version {
  ms: number;
  event: string;
  generation: number;
  observedGeneration?: number;
  deleting?: boolean;
  finalizers?: string[];
  /** Type -> status, reason, message. */
  conditions: Record<string, string[]>;
  resources?: string[];
}

interface RecordedStep {
  step: string;
  versions: Version[];
  /** `plural/name` -> `there`, `deleting` or `404`. */
  objects: Record<string, string>;
}

const namespace = 'shoot--lab--traces';
let source: Cluster;
let target: Cluster;
let manager: Controller;

const configMap = (
  name: string,
  { value = 'value', ...metadata }: { value?: string; [key: string]: unknown } = {},
) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { key: value } },
  metadata: { name, namespace: 'kube-system', ...metadata },
});
const held = (name: string) => configMap(name, { finalizers: ['lab.example.org/hold'] });

const deployment = (name: string, { label = name, annotations = {} } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'kube-system', annotations },
  spec: {
    selector: { matchLabels: { app: label } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'registry.example.org/main:1' }] },
    },
  },
});

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const crd = (kind: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.lab.example.org` },
  spec: {
    group: 'lab.example.org',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
});
const fruit = (kind: string, name: string) => ({
  ...{ apiVersion: 'lab.example.org/v1', kind, spec: {} },
  metadata: { name, namespace: 'kube-system' },
});

/** A step of a scenario, for the ManagedResource with this name. */
type Act = (name: string) => unknown;

const managedResource = (name: string) => ({
  ...{ apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' },
  metadata: { name, namespace },
});
const putSecret = (name: string, objects: object[]) => {
  const text = objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
  const data = { 'objects.yaml': Buffer.from(text).toString('base64') };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data, immutable: true };
  source.api.objects.create(secret);
};
const createWithoutSecret: Act = (name) => {
  const spec = { secretRefs: [{ name: `${name}-1` }] };
  source.api.objects.create({ ...managedResource(name), spec } as ReturnType<typeof managedResource>);
};
const createSecret =
  (...objects: object[]): Act =>
  (name) =>
    putSecret(`${name}-1`, objects);
const create =
  (...objects: object[]): Act =>
  (name) => {
    putSecret(`${name}-1`, objects);
    createWithoutSecret(name);
  };
const patch =
  (body: object): Act =>
  (name) =>
    source.api.objects.patch(managedResource(name), body);
/** Puts another set into another Secret. */
const change =
  (objects: object[], metadata = {}): Act =>
  (name) => {
    putSecret(`${name}-2`, objects);
    patch({ spec: { secretRefs: [{ name: `${name}-2` }] }, metadata })(name);
  };
const remove: Act = (name) => source.api.objects.delete(managedResource(name));
const inShoot =
  (name: string, body: object): Act =>
  () =>
    target.api.objects.patch(configMap(name), body);
const release = (name: string) => inShoot(name, { metadata: { finalizers: null } });

const marked = (annotation: string) => ({ annotations: { [`resources.gardener.cloud/${annotation}`]: 'true' } });
const labK = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lab-k' } };

/** The recorded scenarios that the product relies on: the name of the ManagedResource, and what is done in each step. */
const scenarios: Record<string, [name: string, ...Act[]]> = {
  'create, namespace is a target': [
    'a',
    create(configMap('a')),
    inShoot('a', { data: { key: 'edited' } }),
    patch({ metadata: { annotations: { 'gardener.cloud/operation': 'reconcile' } } }),
    change([configMap('a', { value: 'new' })]),
    remove,
  ],
  'Secret missing, then created': ['b', createWithoutSecret, createSecret(configMap('b')), remove],
  'CRD and custom resource in one ManagedResource': ['d', create(crd('Apple', 'apples'), fruit('Apple', 'd')), remove],
  'custom resource whose CRD does not exist yet': [
    'e',
    create(fruit('Pear', 'e')),
    () => target.api.objects.create(crd('Pear', 'pears')),
    remove,
  ],
  'object dropped from the set has a finalizer: nothing new is applied until it is gone': [
    'f',
    create(held('f-old')),
    change([configMap('f-new')]),
    release('f-old'),
    remove,
  ],
  'ManagedResource deleted while an object has a finalizer': ['g', create(held('g')), remove, release('g')],
  'keepObjects, then deleted, then created again': [
    'h',
    create(configMap('h')),
    patch({ spec: { keepObjects: true } }),
    remove,
    createWithoutSecret,
    remove,
  ],
  'keep-object annotation on one of two objects': [
    'i',
    create(configMap('i-kept', marked('keep-object')), configMap('i-gone')),
    remove,
  ],
  'namespace outside the targets': ['k', create(labK, configMap('k', { namespace: 'lab-k' })), remove],
  'rejected by the API server (invalid)': [
    'l',
    create(configMap('l-before'), deployment('l', { label: 'other' })),
    remove,
  ],
  'Deployment that never becomes available; then with skip-health-check': [
    'm',
    create(deployment('m')),
    change([deployment('m', marked('skip-health-check'))]),
    remove,
  ],
  'ignore annotation on the ManagedResource': [
    'n',
    create(configMap('n')),
    change([configMap('n2')], marked('ignore')),
    remove,
  ],
};

const ofLab = { group: 'lab.example.org', version: 'v1', namespaced: true };
/** Resources of the shoot that the recording contains, by plural. */
const shownResources: Record<string, Resource> = {
  configmaps: resources.configMaps,
  deployments: resources.deployments,
  namespaces: resources.namespaces,
  customresourcedefinitions: resources.customResourceDefinitions,
  apples: { ...ofLab, plural: 'apples', kind: 'Apple' },
  pears: { ...ofLab, plural: 'pears', kind: 'Pear' },
};

const file = testData('resource-manager-traces.json');
const recording: Record<string, RecordedStep[]> = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));

it.skipIf(file !== undefined)(recordingsMissing, () => {});

describe.skipIf(file === undefined)('the stand-in does what the real resource-manager did', () => {
  beforeAll(async () => {
    [source, target] = await Promise.all([startCluster(seedCrds()), startCluster()]);
    source.api.objects.ensureNamespace(namespace);
    const connections = { source: source.connection, target: target.connection };
    manager = await startResourceManager({ ...connections, targetNamespaces: defaultTargetNamespaces });
  });
  afterAll(async () => {
    await manager?.stop();
    await Promise.all([source, target].map((cluster) => cluster?.stop()));
  });

  it.concurrent.each(Object.entries(scenarios))('%s', async (title, [name, ...acts]) => {
    const steps = recording[title] ?? [];
    expect(steps).toHaveLength(acts.length);
    const seen: Version[] = [];
    source.api.objects.onChange('resources.gardener.cloud/v1alpha1', 'ManagedResource', ({ type, object }) => {
      if (object.metadata.name === name) seen.push(versionOf(type, object as unknown as FullManagedResource));
    });
    for (const [index, { step, versions, objects }] of steps.entries()) {
      const from = seen.length;
      acts[index]?.(name);
      await settled(() => seen.slice(from), versions);
      expect({ step, versions: essenceOf(seen.slice(from)) }).toEqual({ step, versions: essenceOf(versions) });
      expect(await objectsOf(Object.keys(objects))).toEqual(objects);
      // The next pass over terminating objects comes after 5 s: the only time that does not depend on the machine.
      if (step === 'finalizer removed in the shoot') {
        expect((seen[from]?.ms ?? 0) - (seen[from - 1]?.ms ?? 0)).toBeGreaterThan(4000);
      }
    }
  });
});

function versionOf(event: string, { metadata, status = {} }: FullManagedResource): Version {
  const conditions = Object.fromEntries(
    (status.conditions ?? []).map(({ type, status, reason, message }) => [type, [status, reason, message]]),
  );
  const shown = status.resources?.map(({ kind, namespace, name }) => [kind, namespace, name].filter(Boolean).join('/'));
  return {
    ms: Date.now(),
    event,
    generation: metadata.generation ?? 0,
    ...(metadata.finalizers?.length ? { finalizers: metadata.finalizers } : {}),
    ...(status.observedGeneration ? { observedGeneration: status.observedGeneration } : {}),
    ...(metadata.deletionTimestamp === undefined ? {} : { deleting: true }),
    conditions,
    ...(shown && { resources: shown }),
  };
}

/** Waits until everything recorded has happened, and then a moment for further versions. */
async function settled(seen: () => Version[], recorded: Version[]): Promise<void> {
  const enough = () => seen().length >= recorded.length && isDeepStrictEqual(essenceOf(seen()), essenceOf(recorded));
  for (let waited = 0; waited < 12_000 && !enough(); waited += 20) await sleep(20);
  await sleep(200);
}

/** Leaves out times, the number of retries, and whether health or progress is reported first. */
function essenceOf(versions: Version[]): Version[] {
  const shown = versions
    .filter((version) => !isHalfChecked(version))
    .map(({ ms, conditions, finalizers, ...version }) => ({
      ...version,
      ms: 0,
      // The API server decides whether the last version still has the finalizer that was removed.
      ...(version.event === 'DELETED' || finalizers === undefined ? {} : { finalizers }),
      conditions: Object.fromEntries(Object.entries(conditions).sort()),
    }));
  const result: Version[] = [];
  for (const version of shown) {
    result.push(version);
    // Progressing, False, Progressing, False: repeats of one attempt.
    if (result.length >= 4 && isDeepStrictEqual(result.slice(-2), result.slice(-4, -2))) result.splice(-2);
  }
  return result;
}

/** Returns whether it is applied and only one of the two checks has a result. */
function isHalfChecked({ conditions }: Version): boolean {
  const pending = (type: string) => conditions[type]?.[1] === 'ChecksPending';
  return conditions.ResourcesApplied?.[0] === 'True' && pending('ResourcesHealthy') !== pending('ResourcesProgressing');
}

async function objectsOf(shown: string[]): Promise<Record<string, string>> {
  const entries = shown.map(async (text) => {
    const [plural = '', name = ''] = text.split('/');
    const resource = shownResources[plural];
    if (resource === undefined) throw new Error(`The recording shows ${plural}, which this test does not know.`);
    const within = name === 'k' ? 'lab-k' : 'kube-system';
    const object = await target.client.find(resource, { name, ...(resource.namespaced && { namespace: within }) });
    const state = object === undefined ? '404' : object.metadata.deletionTimestamp === undefined ? 'there' : 'deleting';
    return [text, state];
  });
  return Object.fromEntries(await Promise.all(entries));
}
