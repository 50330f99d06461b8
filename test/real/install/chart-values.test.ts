import { appendFile, cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { operatorExtension } from '../../../infra/gardener/registration/registration.ts';
import { EVENTS_PORT, NAMESPACE, WATCHER, watcher } from '../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { documents, root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';
import { chartFolder, configOf, find, helm, objectsIn, ofKind, podOf, renderChart } from './helm.ts';

const namespace = 'other';
const charts = ['shoot-flux', ...['runtime', 'application'].map((part) => `shoot-flux-admission/charts/${part}`)];

describe('admission in one cluster', () => {
  it('is called, and has its rights, in the namespace of the release', async () => {
    const objects = await renderChart({ chart: 'shoot-flux-admission', namespace });
    const { name } = find(objects, 'Service').metadata;
    expect(find(objects, 'Service').metadata.namespace).toBe(namespace);
    const webhooks = find(objects, 'ValidatingWebhookConfiguration').webhooks as { clientConfig: object }[];
    for (const { clientConfig } of webhooks) expect(clientConfig).toMatchObject({ service: { name, namespace } });
    const { metadata: account } = find(objects, 'ServiceAccount');
    expect(find(objects, 'ClusterRoleBinding').subjects).toEqual([
      { kind: 'ServiceAccount', name: account.name, namespace: account.namespace },
    ]);
  });

  it('is called in garden where gardener-operator installs the other part', async () => {
    const chart = 'shoot-flux-admission/charts/application';
    const objects = await renderChart({ chart, namespace: 'kube-system' });
    expect(JSON.stringify(find(objects, 'ValidatingWebhookConfiguration'))).toContain(
      'https://shoot-flux-admission.garden.svc/',
    );
  });

  it('takes pushes, and has the rights for it, only where pushUrl is set', async () => {
    const render = (config: object) =>
      renderChart({ namespace: 'garden', chart: 'shoot-flux-admission/charts/application', values: { config } });
    const rules = async (config: object) =>
      JSON.stringify(find(await render(config), 'ClusterRole', ':admission').rules);
    const pushUrl = 'https://flux.example.org';
    expect(await rules({})).not.toContain('flux-push');
    expect(await rules({ pushUrl })).toContain('"flux-push"');
    const runtime = {
      namespace: 'garden',
      chart: 'shoot-flux-admission/charts/runtime',
      values: { config: { pushUrl } },
    };
    expect(configOf(await renderChart(runtime))).toMatchObject({
      pushUrl,
      webhookFunction: ['admission', 'push-webhook'],
    });
  });

  it('enforces the policy of the seeds, with the same image, where gardener-operator installs both parts', async () => {
    const given = {
      image: { repository: 'mirror.example.com/shoot-flux', tag: 'v2' },
      imagePullSecrets: [{ name: 'mirror' }],
      policy: { allowedVersions: ['2.9.x'] },
      config: { defaults: { pullSecret: {} } },
      replicaCount: 1,
    };
    const { spec } = operatorExtension({ version: '0.1.0', registry: 'registry.example.com', values: given });
    const { values } = (spec as { deployment: { admission: { values: Record<string, unknown> } } }).deployment
      .admission;
    const render = (part: string) =>
      renderChart({ chart: `shoot-flux-admission/charts/${part}`, namespace: 'garden', values });
    expect(await render('application')).not.toEqual([]);
    const objects = await render('runtime');
    expect(configOf(objects)).toMatchObject({ policy: given.policy, defaults: given.config.defaults });
    expect(podOf(objects).spec).toMatchObject({
      containers: [{ image: 'mirror.example.com/shoot-flux:v2' }],
      imagePullSecrets: given.imagePullSecrets,
    });
  });
});

const SECTION = 'The chart as the bridge';

/** Builds the overlay of the example with more in its `kustomization.yaml`, and returns kinds and names of its objects. */
async function overlay(more: string): Promise<string[]> {
  const { kustomize } = await buildTools(['kustomize']);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-overlay-'));
  await cp(join(root, 'infra/knative'), folder.path, { recursive: true });
  const example = join(folder.path, 'overlays/example');
  await appendFile(join(example, 'kustomization.yaml'), more);
  return objectsIn(await runProgram(kustomize, ['build', example])).map(
    ({ kind, metadata }) => `${kind} ${metadata.name}`,
  );
}

describe('the chart on Knative', () => {
  const values = { mode: 'bridge-knative' };
  const render = (more: object = {}) =>
    renderChart({ name: WATCHER, namespace: NAMESPACE, values: { ...values, ...more } });

  it('is what the Triggers of the base send to, and what gets the address of the Broker, under the name of its watcher', async () => {
    const objects = await render();
    const base = watcher();
    expect(configOf(objects)).toMatchObject({ eventsPort: EVENTS_PORT });
    expect(podOf(objects).spec).toMatchObject({
      containers: [{ ports: expect.arrayContaining([{ name: 'events', containerPort: EVENTS_PORT }]) }],
    });
    expect(find(objects, 'Deployment').metadata.name).toBe(find(base, 'Deployment').metadata.name);
    const { metadata, spec } = find(objects, 'Service');
    expect(metadata).toMatchObject({ name: find(base, 'Service').metadata.name, namespace: NAMESPACE });
    const [{ port }] = (find(base, 'Service').spec as { ports: [{ port: number }] }).ports;
    expect((spec as { ports: object[] }).ports).toContainEqual({ name: 'events', port, targetPort: 'events' });
    expect(find(objects, 'ServiceAccount').metadata.name).toBe(WATCHER);
  });

  it('replaces the watcher of an overlay with the patch of the page', async () => {
    const page = documents.find(({ path }) => path === 'docs/install-knative.md');
    const patch = page?.fences.find(({ section, language }) => section === SECTION && language === 'yaml')?.text ?? '';
    const before = await overlay('');
    const removed = ['Deployment', 'Service', 'ServiceAccount'].map((kind) => `${kind} ${WATCHER}`);
    expect(before).toEqual(expect.arrayContaining([...removed, `SinkBinding ${WATCHER}`]));
    expect(await overlay(patch)).toEqual(before.filter((name) => !removed.includes(name)));
  });

  it('takes events from the Pods of Knative only, or of another place', async () => {
    const ingress = async (more?: object) =>
      (find(await render(more), 'NetworkPolicy').spec as { ingress: { from?: object[]; ports: object[] }[] }).ingress;
    const knative = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'knative-eventing' } } };
    expect(await ingress()).toEqual([
      { ports: [{ port: 'metrics' }] },
      { from: [knative], ports: [{ port: 'events' }] },
    ]);
    const elsewhere = [{ podSelector: { matchLabels: { app: 'dispatcher' } } }];
    expect((await ingress({ knative: { eventsFrom: elsewhere } }))[1]?.from).toEqual(elsewhere);
    const open = await render({ knative: { eventsFrom: [] } });
    expect(open.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
  });

  it.each(['embedded', 'bridge-sqs'])('has no such port in mode %s', async (mode) => {
    const text = JSON.stringify(await render({ mode, sqs: { queuePrefix: 'a-' } }));
    expect(text).not.toContain(String(EVENTS_PORT));
    expect(text).not.toContain('NetworkPolicy');
  });
});

describe.each(charts.slice(0, 2))('the config file of the chart %s', (chart) => {
  it.each(['port', 'eventsPort', 'sink', 'webhookPort', 'webhookFunction', 'webhookSecret', 'webhookCert'])(
    'holds no %s of its own: that follows from other values',
    async (key) => {
      const values = { config: { [key]: '9090' } };
      await expect(renderChart({ chart, namespace, values })).rejects.toThrow(
        `at '/config': additional properties '${key}' not allowed`,
      );
    },
  );

  it('may hold more hosts and the hashes of tokens', async () => {
    const config = { webhookHost: ['admission.example.com'], webhookTokenSha256: 'a'.repeat(64) };
    const objects = await renderChart({ chart, namespace, values: { config } });
    expect(configOf(objects)).toMatchObject(config);
  });
});

describe('queues of the config file', () => {
  it.each([
    ['bridge-sqs', 'queuePrefix', 'config.queuePrefix: in mode bridge-sqs set sqs.queuePrefix instead'],
    ['bridge-sqs', 'sqsEndpoint', 'config.sqsEndpoint: in mode bridge-sqs set sqs.endpoint instead'],
    ['embedded', 'queuePrefix', 'config.queuePrefix: mode embedded has no queues; remove it'],
    ['bridge-knative', 'queuePrefix', 'config.queuePrefix: mode bridge-knative has no queues; remove it'],
    ['bridge-knative', 'sqsEndpoint', 'config.sqsEndpoint: mode bridge-knative has no queues; remove it'],
  ])('are not in mode %s: %s', async (mode, key, sentence) => {
    const values = { mode, sqs: { queuePrefix: 'a-' }, config: { [key]: 'http://mine' } };
    await expect(renderChart({ namespace, values })).rejects.toThrow(sentence);
  });
});

const digest = `sha256:${'0'.repeat(64)}`;
const image = { repository: 'registry.example.com/shoot-flux', tag: 'v1' };
const vectorOf = (...images: unknown[]) => ({ images });

describe.each(charts.slice(0, 2))('the image of the chart %s', (chart) => {
  async function imageOf(imageVectorOverwrite: unknown, more: object = {}): Promise<unknown> {
    const values = { image: { ...image, ...more }, imageVectorOverwrite };
    const objects = await renderChart({ chart, namespace, values });
    return podOf(objects).spec.containers[0]?.image;
  }

  it('takes from the values what the entry of the image vector does not say', async () => {
    const entry = (more: object) => vectorOf({ name: 'shoot-flux', ...more });
    expect(await imageOf(entry({ tag: 'v9' }))).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ tag: 'v9' }), { digest })).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ tag: digest }))).toBe(`registry.example.com/shoot-flux@${digest}`);
    expect(await imageOf(entry({ repository: 'mirror/a' }))).toBe('mirror/a:v1');
    const [first, last] = ['v8', 'v9'].map((tag) => ({ name: 'shoot-flux', tag }));
    expect(await imageOf(vectorOf(first, last))).toBe('registry.example.com/shoot-flux:v9');
    expect(await imageOf(entry({ repository: 'mirror/a' }), { digest })).toBe(`mirror/a:v1@${digest}`);
    expect(await imageOf(entry({ ref: 'mirror/a:v3', version: 'v3' }))).toBe('mirror/a:v3');
    expect(await imageOf(entry({ ref: `mirror/a:v3@${digest}` }))).toBe(`mirror/a:v3@${digest}`);
  });

  it('is that of the values without an entry of its own', async () => {
    for (const vector of ['', {}, vectorOf(), vectorOf({ name: 'other', tag: 'v9' })])
      expect(await imageOf(vector)).toBe('registry.example.com/shoot-flux:v1');
    expect(await imageOf('', { digest })).toBe(`registry.example.com/shoot-flux:v1@${digest}`);
  });

  it.each([
    ['broken YAML', 'images: [', 'imageVectorOverwrite is not YAML with the key images: '],
    ['a list', stringify([{ name: 'shoot-flux' }]), 'imageVectorOverwrite is not YAML with the key images: '],
    ['another key', { image: [] }, 'imageVectorOverwrite has no key images, which holds the list of images'],
    ['no list', { images: { name: 'shoot-flux' } }, 'imageVectorOverwrite.images is not a list of images'],
    ['an entry without a name', vectorOf({ tag: 'v9' }), 'imageVectorOverwrite.images has an entry without a name'],
    [
      'a tag that is a number',
      vectorOf({ name: 'shoot-flux', tag: 1.2 }),
      'imageVectorOverwrite: tag of the image shoot-flux is not a text; quote it',
    ],
    [
      'nothing that names an image',
      vectorOf({ name: 'shoot-flux' }),
      'imageVectorOverwrite: the image shoot-flux has none of repository, tag and ref',
    ],
  ])('is refused with %s in place of an image vector', async (_, vector, sentence) => {
    await expect(imageOf(vector)).rejects.toThrow(sentence);
  });
});

const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Renders a chart of another version. */
async function renderVersion(chart: string, version: string): Promise<KubeObject[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-chart-'));
  await cp(chartFolder(chart), folder.path, { recursive: true });
  const file = join(folder.path, 'Chart.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  const output = await helm('template', 'shoot-flux', folder.path, '--namespace', namespace);
  return objectsIn(output);
}

/** Returns the values of all labels of an object and of its Pods. */
function labelsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'labels' && !Array.isArray(inner) ? Object.values(inner as object).map(String) : labelsIn(inner),
  );
}

describe.each(charts)('the chart %s', (chart) => {
  it.each(['0.1.0+build.1', `0.1.0-${'a'.repeat(70)}.1`])(
    'has labels that Kubernetes accepts in version %s',
    async (version) => {
      const labels = (await renderVersion(chart, version)).flatMap(labelsIn);
      expect(labels.length).toBeGreaterThan(5);
      expect(labels.filter((label) => !LABEL.test(label) || label.length > 63)).toEqual([]);
    },
  );
});

it('the image of a version with metadata has a tag that registries accept, as Helm writes it', async () => {
  for (const chart of charts.slice(0, 2)) {
    const text = JSON.stringify(await renderVersion(chart, '0.1.0+build.1'));
    expect(text).toContain('"registry.example.com/shoot-flux:0.1.0_build.1"');
  }
});

it.each(['flux.my-seed', 'my.shoot-flux', `${'a'.repeat(28)}.b`, `${'a'.repeat(36)}.b.shoot-flux`])(
  'a release may be called %s',
  async (name) => {
    const objects = await renderChart({ name, namespace });
    const names = ofKind(objects, 'Service').map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    for (const service of names) expect(service).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
  },
);

it.each([
  ['an unknown value', { replicas: 2 }, /additional properties 'replicas' not allowed/],
  ['another type', { replicaCount: 'two' }, /replicaCount.*want integer/],
  [
    'an unknown key of the config file',
    { config: { logLevle: 'debug' } },
    /additional properties 'logLevle' not allowed/,
  ],
  [
    'an unknown key of the defaults',
    { defaults: { flux: { registy: 'a' } } },
    "at '/defaults/flux': additional properties 'registy' not allowed",
  ],
  ['a policy in a text that is no object', { policy: '[2.9.x]' }, /policy is not an object in YAML: /],
  [
    'a default that only a Shoot can name',
    { defaults: { additionalSecretResources: [] } },
    "at '/defaults': additional properties 'additionalSecretResources' not allowed",
  ],
  [
    'an unknown rule in the config file',
    { config: { policy: { allowedVersion: ['2.9.x'] } } },
    "at '/config/policy': additional properties 'allowedVersion' not allowed",
  ],
  ['an unknown mode', { mode: 'lambda' }, /mode.*must be one of/],
  ['queues without a prefix', { mode: 'bridge-sqs' }, /mode bridge-sqs needs sqs.queuePrefix/],
  [
    'a seed that is called like the garden',
    { kubeconfigs: { garden: { secretName: 'a' }, seeds: { garden: { secretName: 'b' } } } },
    'kubeconfigs.seeds.garden: a seed cannot be called garden; the kubeconfig of the garden is kubeconfigs.garden',
  ],
  ['a seed without a Secret', { kubeconfigs: { seeds: { one: {} } } }, /kubeconfigs.seeds.one needs secretName/],
])('Helm refuses %s', async (_, values, message) => {
  await expect(renderChart({ namespace, values })).rejects.toThrow(message);
});
