import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { operatorExtension } from '../../../infra/gardener/registration/registration.ts';
import { EVENTS_PORT, NAMESPACE, WATCHER, watcher } from '../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { documents, root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { renderChart } from './helm.ts';

const find = (objects: KubeObject[], kind: string): KubeObject => {
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
};
const podOf = (objects: KubeObject[]) =>
  (find(objects, 'Deployment').spec as { template: { spec: object } }).template.spec;
const configOf = (objects: KubeObject[]) =>
  parse((find(objects, 'ConfigMap').data as Record<string, string>)['config.yaml'] ?? '');

describe('admission in one cluster', () => {
  it('is called, and has its rights, in the namespace of the release', async () => {
    const objects = await renderChart({ chart: 'shoot-flux-admission', namespace: 'other' });
    const { name, namespace } = find(objects, 'Service').metadata;
    expect(namespace).toBe('other');
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
    expect(podOf(objects)).toMatchObject({
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
  const { stdout } = await promisify(execFile)(kustomize, ['build', example]);
  return parseAllDocuments(stdout).map((document) => {
    const { kind, metadata } = document.toJS() as KubeObject;
    return `${kind} ${metadata.name}`;
  });
}

describe('the chart on Knative', () => {
  const values = { mode: 'bridge-knative' };
  const render = (more: object = {}) =>
    renderChart({ name: WATCHER, namespace: NAMESPACE, values: { ...values, ...more } });

  it('is what the Triggers of the base send to, and what gets the address of the Broker, under the name of its watcher', async () => {
    const objects = await render();
    const base = watcher();
    expect(configOf(objects)).toMatchObject({ eventsPort: EVENTS_PORT });
    expect(podOf(objects)).toMatchObject({
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

const runtime = 'shoot-flux-admission/charts/runtime';

describe.each(['shoot-flux', runtime])('the config file of the chart %s', (chart) => {
  it.each(['port', 'eventsPort', 'sink', 'webhookPort', 'webhookFunction', 'webhookSecret', 'webhookCert'])(
    'holds no %s of its own: that follows from other values',
    async (key) => {
      const values = { config: { [key]: '9090' } };
      await expect(renderChart({ chart, namespace: 'other', values })).rejects.toThrow(
        `at '/config': additional properties '${key}' not allowed`,
      );
    },
  );

  it('may hold more hosts and the hashes of tokens', async () => {
    const config = { webhookHost: ['admission.example.com'], webhookTokenSha256: 'a'.repeat(64) };
    const objects = await renderChart({ chart, namespace: 'other', values: { config } });
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
    await expect(renderChart({ namespace: 'other', values })).rejects.toThrow(sentence);
  });
});
