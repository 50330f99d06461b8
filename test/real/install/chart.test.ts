import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { exampleWith } from '../../integration/documents.ts';
import { shippedRules } from '../../scenarios/identities.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { gardenletValues, INSTALLATION, selfHostedValues } from './gardenlet-values.ts';
import { lintChart, renderChart } from './helm.ts';
import { applyObjects } from './objects.ts';
import { installOptionalKinds } from './optional-kinds.ts';

const namespace = INSTALLATION;
const seed = gardenletValues('my-seed');
const sqs = { queuePrefix: 'shoot-flux-prod-' };
const garden = { secretName: 'garden-kubeconfig' };

/** Values as operators combine them. */
const variants: Record<string, Record<string, unknown>> = {
  'default values': {},
  "a gardenlet's values": seed,
  "the values of a self-hosted Shoot's gardenlet": selfHostedValues('garden', 'root'),
  'several Pods with a mounted distribution': {
    ...seed,
    replicaCount: 2,
    fluxDistribution: { volume: { image: { reference: 'registry.example.com/distribution:v2.9.4' } } },
    imagePullSecrets: [{ name: 'pull-secret' }],
    config: { shootHealth: true, logLevel: 'debug' },
  },
  'many seeds by kubeconfigs': {
    kubeconfigs: {
      garden,
      seeds: { one: { secretName: 'one' }, two: { secretName: 'two' }, own: { inCluster: true } },
    },
  },
  'defaults and a policy': { ...seed, ...parse(exampleWith('docs/policy.md', 'policy')) },
  'only the rights': { replicaCount: 0, rbac: { subjects: [{ kind: 'User', name: 'shoot-flux' }] } },
  'functions on AWS': {
    ...seed,
    mode: 'bridge-sqs',
    sqs: { ...sqs, region: 'eu-central-1', roleArn: 'arn:aws:iam::123456789012:role/watcher' },
    rbac: { functionSubjects: { readiness: [{ kind: 'User', name: 'aws:readiness' }] } },
  },
  'functions on Knative': { ...seed, mode: 'bridge-knative', knative: { sink: 'http://broker.example.com/a/b' } },
};

const find = (objects: KubeObject[], kind: string, ending = ''): KubeObject => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name.endsWith(ending));
  if (found === undefined) throw new Error(`there is no ${kind} …${ending}`);
  return found;
};
const INJECTION = 'extensions.gardener.cloud/inject-garden-kubeconfig';
const podOf = (objects: KubeObject[]) => (find(objects, 'Deployment').spec as { template: PodTemplate }).template;
const configOf = (objects: KubeObject[]) => parse((find(objects, 'ConfigMap').data as Data)['config.yaml'] ?? '');

type Data = Record<string, string>;
interface PodTemplate {
  metadata: { labels: Data; annotations: Data };
  spec: { containers: { image: string; args: string[]; env?: { name: string; value?: string }[] }[] };
}

describe.each(Object.entries(variants))('the chart with %s', (_, values) => {
  it('passes the linter', async () => {
    expect(await lintChart({ namespace, values })).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('is accepted by a real API server, and its Pods by the restricted Pod Security Standard', async () => {
    const objects = await renderChart({ namespace, values });
    expect(objects.length).toBeGreaterThan(5);
    await applyObjects(server, objects, true);
    for (const { kind, spec } of objects) {
      if (kind !== 'Deployment') continue;
      const { template } = spec as { template: object };
      const pod = { apiVersion: 'v1', kind: 'Pod', ...template } as KubeObject;
      await applyObjects(server, [{ ...pod, metadata: { ...pod.metadata, name: 'pod', namespace } }], true);
    }
  });
});

let etcd: Etcd;
let server: ApiServer;
beforeAll(async () => {
  etcd = await startEtcd();
  server = await startApiServer({ etcd, prefix: 'runtime' });
  await installOptionalKinds(server);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespaces = [{ name: namespace, labels }, { name: 'garden' }];
  await applyObjects(
    server,
    namespaces.map((metadata) => ({ apiVersion: 'v1', kind: 'Namespace', metadata })),
  );
});
afterAll(async () => {
  await server?.stop();
  await etcd?.stop();
});

describe('the rendered objects', () => {
  it('use no hooks, and name only the namespace of the release, and for Plutono that of its dashboards', async () => {
    for (const values of Object.values(variants)) {
      for (const { kind, metadata } of await renderChart({ namespace, values })) {
        expect(Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('helm.sh/hook'))).toEqual([]);
        const isForPlutono = 'gardener' in values && kind === 'ConfigMap' && metadata.name.endsWith('-dashboard');
        expect([namespace, undefined]).toContain(isForPlutono ? namespace : metadata.namespace);
        if (isForPlutono) expect(metadata.namespace).toBe('garden');
      }
    }
  });

  it('have an account of their own in the garden where a gardenlet of a seed installs them', async () => {
    const objects = await renderChart({ namespace, values: seed });
    expect(find(objects, 'Secret').metadata).toMatchObject({
      labels: { 'resources.gardener.cloud/purpose': 'token-requestor', 'resources.gardener.cloud/class': 'garden' },
      annotations: { 'resources.gardener.cloud/ignore': 'true' },
    });
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toHaveLength(2);
    // The first eight digits of the SHA-256 of the name, by which Gardener's garbage collector looks for it.
    const annotations = { 'reference.resources.gardener.cloud/secret-2033d4e7': 'generic-garden-kubeconfig-0123abcd' };
    for (const { metadata, spec } of deployments) {
      const { template } = spec as { template: PodTemplate };
      expect(metadata).toMatchObject({ annotations, labels: { [INJECTION]: 'false' } });
      expect(template).toMatchObject({ metadata: { annotations } });
      const { containers } = template.spec;
      const path = '/var/run/secrets/gardener.cloud/garden/generic-kubeconfig/kubeconfig';
      expect(containers[0]?.env).toContainEqual({ name: 'GARDEN_KUBECONFIG', value: path });
    }
  });

  it.each([
    ['a self-hosted Shoot', selfHostedValues('garden', 'root')],
    ['a seed, with a kubeconfig of the garden', { ...seed, kubeconfigs: { garden } }],
    ['a seed, with a variable for that kubeconfig', { ...seed, env: [{ name: 'GARDEN_KUBECONFIG', value: '/mine' }] }],
    ['a cluster without a gardenlet', {}],
  ])('ask for no account in %s', async (_, values) => {
    const objects = await renderChart({ namespace, values });
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const text = JSON.stringify(objects.filter(({ kind }) => kind === 'Deployment'));
    expect(text).not.toContain('/generic-kubeconfig/');
    expect(text).not.toContain(INJECTION);
  });

  it('let the Prometheus instances of a seed read the metrics', async () => {
    const services = (await renderChart({ namespace, values: seed })).filter(({ kind }) => kind === 'Service');
    expect(services).toHaveLength(2);
    for (const { metadata } of services) {
      expect(metadata.annotations).toMatchObject({
        'networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports':
          '[{"port":8080,"protocol":"TCP"}]',
        'networking.resources.gardener.cloud/namespace-selectors':
          '[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]',
        'networking.resources.gardener.cloud/pod-label-selector-namespace-alias': 'extensions',
      });
    }
  });

  it('let the Prometheus `aggregate` read the metrics where the operator hands it the alerts', async () => {
    const labels = { prometheus: 'aggregate' };
    const values = { ...seed, metrics: { serviceMonitor: { labels }, prometheusRule: { labels } } };
    const objects = await renderChart({ namespace, values });
    for (const kind of ['ServiceMonitor', 'PrometheusRule'])
      expect(find(objects, kind).metadata.labels).toMatchObject(labels);
    const ours = find(objects, 'Service').spec as { selector: Record<string, string> };
    const { 'app.kubernetes.io/component': _, ...matchLabels } = ours.selector;
    const inNamespace = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies).toMatchObject([
      {
        metadata: { namespace },
        spec: {
          podSelector: { matchLabels },
          ingress: [
            {
              from: [{ namespaceSelector: inNamespace('garden'), podSelector: { matchLabels: labels } }],
              ports: [{ port: 'metrics' }],
            },
          ],
        },
      },
      {
        metadata: { namespace: 'garden' },
        spec: {
          podSelector: { matchLabels: labels },
          egress: [
            {
              to: [{ namespaceSelector: inNamespace(namespace), podSelector: { matchLabels } }],
              ports: [{ port: 'metrics' }],
            },
          ],
        },
      },
    ]);
    await applyObjects(server, policies, true);
    expect((await renderChart({ namespace, values: seed })).map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });

  it('are only rights where another deployment serves the seed', async () => {
    const values = { ...seed, replicaCount: 0, webhooks: { enabled: false } };
    const kinds = new Set((await renderChart({ namespace, values })).map(({ kind }) => kind));
    const rbac = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
    expect([...kinds].sort()).toEqual([...rbac, 'ConfigMap', 'ServiceAccount'].sort());
  });

  it('that are never updated carry no version', async () => {
    const objects = await renderChart({ namespace, values: seed });
    const kept = objects.filter(({ metadata }) => metadata.annotations?.['resources.gardener.cloud/ignore'] === 'true');
    expect(kept.map(({ kind }) => kind).sort()).toEqual(['MutatingWebhookConfiguration', 'Secret']);
    for (const { metadata } of kept) {
      expect(metadata.labels).not.toHaveProperty(['app.kubernetes.io/version']);
      expect(metadata.labels).not.toHaveProperty(['helm.sh/chart']);
    }
  });

  it('of two installations in one cluster have different names', async () => {
    const names = async (other: string) =>
      (await renderChart({ namespace: other, values: seed }))
        .filter(({ metadata }) => metadata.namespace === undefined)
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const first = await names('extension-shoot-flux-aaaaa');
    const second = await names('extension-shoot-flux-bbbbb');
    expect(first.length).toBeGreaterThan(4);
    expect(first.filter((name) => second.includes(name))).toEqual([]);
  });

  it('grant each function exactly the rights of its definition, to the Pods or to its own ServiceAccount', async () => {
    const rules = await shippedRules('seed');
    for (const mode of ['embedded', 'bridge-sqs', 'bridge-knative']) {
      const objects = await renderChart({ namespace, values: { ...seed, mode, sqs } });
      const functions = ['managed-resources', 'readiness', 'sync-mode'];
      for (const name of [...functions, 'watcher', 'heartbeat']) {
        const kind = name === 'heartbeat' ? 'Role' : 'ClusterRole';
        expect(find(objects, kind, `:${name}`).rules).toEqual(rules[name]);
        const isOwn = mode !== 'embedded' && functions.includes(name);
        const account = { kind: 'ServiceAccount', namespace, name: isOwn ? `shoot-flux-${name}` : 'shoot-flux' };
        expect(find(objects, `${kind}Binding`, `:${name}`).subjects).toEqual([account]);
        expect(find(objects, 'ServiceAccount', account.name)).toMatchObject({ automountServiceAccountToken: false });
      }
    }
  });

  it('of the three modes start run or watch with one config file', async () => {
    const args = async (mode: string) =>
      podOf(await renderChart({ namespace, values: { ...seed, mode, sqs } })).spec.containers[0]?.args;
    expect(await args('embedded')).toEqual(['run', '--config', '/etc/shoot-flux/config.yaml']);
    expect(await args('bridge-sqs')).toEqual(['watch', '--config', '/etc/shoot-flux/config.yaml']);
    expect(await args('bridge-knative')).toEqual(['watch', '--config', '/etc/shoot-flux/config.yaml']);
  });

  it('configure the seed of the gardenlet, and what the operator adds', async () => {
    const values = {
      ...seed,
      config: { shootHealth: true, shootAccess: 'external' },
      defaults: { flux: { registry: 'registry.example.com/fluxcd' } },
      policy: { requireMultiTenancy: true },
    };
    expect(configOf(await renderChart({ namespace, values }))).toEqual({
      port: 8080,
      seeds: { 'my-seed': 'in-cluster' },
      gardenIdentity: 'landscape-garden',
      fluxDistribution: '/flux-distribution',
      shootHealth: true,
      shootAccess: 'external',
      defaults: { flux: { registry: 'registry.example.com/fluxcd' } },
      policy: { requireMultiTenancy: true },
    });
  });

  it('mount the kubeconfigs of garden and seeds where the config file names them', async () => {
    const objects = await renderChart({ namespace, values: variants['many seeds by kubeconfigs'] ?? {} });
    expect(configOf(objects)).toMatchObject({
      garden: '/etc/shoot-flux/kubeconfigs/garden/kubeconfig',
      seeds: {
        one: '/etc/shoot-flux/kubeconfigs/one/kubeconfig',
        two: '/etc/shoot-flux/kubeconfigs/two/kubeconfig',
        own: 'in-cluster',
      },
    });
    const text = JSON.stringify(podOf(objects));
    for (const name of ['garden', 'one', 'two']) expect(text).toContain(`/etc/shoot-flux/kubeconfigs/${name}"`);
  });

  it('replace the Pods when the configuration changes', async () => {
    const checksum = async (config: object) =>
      podOf(await renderChart({ namespace, values: { ...seed, config } })).metadata.annotations['checksum/config'];
    expect(await checksum({ logLevel: 'debug' })).not.toBe(await checksum({ logLevel: 'info' }));
  });

  it('take the image from the values, or from the entry of the image vector', async () => {
    const image = async (values: object) =>
      podOf(await renderChart({ namespace, values: { ...seed, ...values } })).spec.containers[0]?.image;
    const vector = (entry: object) => ({
      imageVectorOverwrite: JSON.stringify({
        images: [
          { name: 'other', repository: 'x/other', tag: 'v9' },
          { name: 'shoot-flux', ...entry },
        ],
      }),
    });
    const digest = `sha256:${'0'.repeat(64)}`;
    expect(await image({})).toMatch(/^registry\.example\.com\/shoot-flux:\d/);
    expect(await image({ image: { repository: 'a/b', digest } })).toMatch(new RegExp(`^a/b:.+@${digest}$`));
    expect(await image(vector({ repository: 'mirror/b', tag: 'v2' }))).toBe('mirror/b:v2');
    expect(await image(vector({ repository: 'mirror/b', tag: digest }))).toBe(`mirror/b@${digest}`);
    expect(await image(vector({ ref: `mirror/b:v3@${digest}` }))).toBe(`mirror/b:v3@${digest}`);
  });

  it('open the networks of Gardener, and prefer nodes and zones apart', async () => {
    const { metadata, spec } = podOf(await renderChart({ namespace, values: seed }));
    expect(metadata.labels).toMatchObject({
      'networking.gardener.cloud/to-dns': 'allowed',
      'networking.gardener.cloud/to-runtime-apiserver': 'allowed',
      'networking.resources.gardener.cloud/to-all-shoots-kube-apiserver-tcp-443': 'allowed',
      'networking.resources.gardener.cloud/to-all-istio-ingresses-istio-ingressgateway-tcp-9443': 'allowed',
    });
    expect(spec).toMatchObject({
      priorityClassName: 'gardener-system-900',
      topologySpreadConstraints: [
        { topologyKey: 'kubernetes.io/hostname' },
        { topologyKey: 'topology.kubernetes.io/zone' },
      ],
    });
    expect(find(await renderChart({ namespace, values: seed }), 'Deployment').metadata).toMatchObject({
      labels: { 'high-availability-config.resources.gardener.cloud/type': 'controller' },
      annotations: { 'high-availability-config.resources.gardener.cloud/replicas': '1' },
    });
  });
});

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
  [
    'a default that only a Shoot can name',
    { defaults: { additionalSecretResources: [] } },
    "at '/defaults': additional properties 'additionalSecretResources' not allowed",
  ],
  [
    'an unknown rule of the policy',
    { policy: { allowedVersion: ['2.9.x'] } },
    "at '/policy': additional properties 'allowedVersion' not allowed",
  ],
  [
    'an unknown rule in the config file',
    { config: { policy: { allowedVersion: ['2.9.x'] } } },
    "at '/config/policy': additional properties 'allowedVersion' not allowed",
  ],
  ['an unknown mode', { mode: 'lambda' }, /mode.*must be one of/],
  ['queues without a prefix', { mode: 'bridge-sqs' }, /mode bridge-sqs needs sqs.queuePrefix/],
  ['a seed without a Secret', { kubeconfigs: { seeds: { one: {} } } }, /kubeconfigs.seeds.one needs secretName/],
])('Helm refuses %s', async (_, values, message) => {
  await expect(renderChart({ namespace, values })).rejects.toThrow(message);
});
