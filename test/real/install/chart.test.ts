import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CONFIGURATION } from '../../../infra/webhooks/names.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { exampleWith } from '../../integration/documents.ts';
import { shippedRules } from '../../scenarios/identities.ts';
import { useApiServers } from '../on-real-apis.ts';
import { folderWith } from '../tools/cache.ts';
import { gardenletValues, INSTALLATION, selfHostedValues } from './gardenlet.ts';
import {
  chartFolder,
  configOf,
  find,
  helm,
  lintChart,
  ofKind,
  type PodTemplate,
  podOf,
  type Release,
  renderChart,
} from './helm.ts';
import { applyObjects, namespaceOf, optionalKinds } from './objects.ts';

const namespace = INSTALLATION;
const seed = gardenletValues('my-seed');
const operator = { gardener: { runtimeCluster: { priorityClassName: 'gardener-garden-system-400' } } };
const virtual = { gardener: { virtualCluster: { serviceAccount: { name: 'extension-admission', namespace } } } };
const aggregate = { prometheus: 'aggregate' };
const sqs = { queuePrefix: 'shoot-flux-prod-' };
const garden = { secretName: 'garden-kubeconfig' };

/** Values of the chart of a seed, as operators combine them. */
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
  addons: { ...seed, ...parse(exampleWith('docs/howto/addons.md', 'addons')) },
  'only the rights': { replicaCount: 0, rbac: { subjects: [{ kind: 'User', name: 'shoot-flux' }] } },
  'functions on AWS': {
    ...seed,
    mode: 'bridge-sqs',
    sqs: { ...sqs, region: 'eu-central-1', roleArn: 'arn:aws:iam::123456789012:role/watcher' },
    rbac: { functionSubjects: { readiness: [{ kind: 'User', name: 'aws:readiness' }] } },
  },
  'certificates of cert-manager': { ...seed, webhooks: { certificates: 'cert-manager' } },
  'another issuer': {
    ...seed,
    webhooks: { certificates: 'cert-manager', certManager: { issuerRef: { kind: 'ClusterIssuer', name: 'internal' } } },
  },
  'functions on Knative': { ...seed, mode: 'bridge-knative', knative: { sink: 'http://broker.example.com/a/b' } },
};

const forAggregate = {
  ...seed,
  metrics: { serviceMonitor: { labels: aggregate }, prometheusRule: { labels: aggregate } },
};

/** The charts of admission, and what has objects in a namespace of others. */
const others: Record<string, Omit<Release, 'namespace'>> = {
  'the chart with metrics for the Prometheus `aggregate`': { values: forAggregate },
  'the admission chart': { chart: 'shoot-flux-admission' },
  'the runtime part': { chart: 'shoot-flux-admission/charts/runtime', values: operator },
  'the runtime part with certificates of cert-manager': {
    chart: 'shoot-flux-admission/charts/runtime',
    values: { ...operator, certificates: 'cert-manager', garden: { kubeconfigSecretName: 'garden-kubeconfig' } },
  },
  'the virtual-garden part': { chart: 'shoot-flux-admission/charts/application', values: virtual },
};

const charts = [
  ...Object.entries(variants).map(([name, values]) => [`the chart with ${name}`, { values }] as const),
  ...Object.entries(others),
];
const INJECTION = 'extensions.gardener.cloud/inject-garden-kubeconfig';
const kindsOf = (objects: KubeObject[]) => [...new Set(objects.map(({ kind }) => kind))];

describe('charts', () => {
  const used = useApiServers({ runtime: { crds: [optionalKinds] } });

  it.each(charts)(
    '%s passes the linter, and is accepted by a real API server, its Pods by the restricted Pod Security Standard',
    async (_, release: Omit<Release, 'namespace'>) => {
      expect(await lintChart({ ...release, namespace })).toContain('1 chart(s) linted, 0 chart(s) failed');
      const { runtime } = used.servers;
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      await applyObjects(runtime, [namespaceOf(namespace, labels), namespaceOf('garden')]);
      const objects = await renderChart({ ...release, namespace });
      expect(objects.length).toBeGreaterThan(2);
      await applyObjects(runtime, objects, true);
      for (const { spec } of ofKind(objects, 'Deployment')) {
        const { template } = spec as { template: object };
        const pod = { apiVersion: 'v1', kind: 'Pod', ...template } as KubeObject;
        await applyObjects(runtime, [{ ...pod, metadata: { ...pod.metadata, name: 'pod', namespace } }], true);
      }
      for (const { metadata } of objects)
        expect(JSON.stringify(metadata.annotations ?? {})).not.toContain('helm.sh/hook');
    },
  );

  it.each([
    ['shoot-flux', {}, 'rollout status deployment shoot-flux\n'],
    ['shoot-flux', { replicaCount: 0 }, 'get clusterroles --selector app.kubernetes.io/instance=shoot-flux\n'],
    ['shoot-flux-admission/charts/runtime', {}, 'rollout status deployment shoot-flux-admission\n'],
    ['shoot-flux-admission', {}, 'rollout status deployment shoot-flux-admission\n'],
  ])('say after an installation of %s with %j what to look at', async (chart, values, command) => {
    const kubeconfig = used.servers.runtime.kubeconfig();
    await using folder = await folderWith({ kubeconfig, 'values.yaml': stringify(values) });
    const files = ['--kubeconfig', join(folder.path, 'kubeconfig'), '--values', join(folder.path, 'values.yaml')];
    const args = ['shoot-flux', chartFolder(chart), '--namespace', namespace, '--dry-run=client', ...files];
    const output = await helm('install', ...args);
    expect(output.slice(output.indexOf('\nNOTES:\n'))).toContain(command);
  });
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
    const deployments = ofKind(objects, 'Deployment');
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

  it('have an account with no rights but those of a project in a self-hosted Shoot', async () => {
    const objects = await renderChart({ namespace, values: selfHostedValues('garden-foo', 'bar') });
    const account = 'serviceaccount.resources.gardener.cloud';
    const { annotations } = find(objects, 'Secret').metadata;
    expect(annotations).toMatchObject({ [`${account}/name`]: 'extension-shoot--bar--shoot-flux' });
    expect(annotations).not.toHaveProperty([`${account}/labels`]);
    for (const { metadata } of ofKind(objects, 'Deployment'))
      expect(metadata.labels).toMatchObject({ [INJECTION]: 'false' });
  });

  it.each([
    ['a seed, with a kubeconfig of the garden', { ...seed, kubeconfigs: { garden } }],
    ['a seed, with a variable for that kubeconfig', { ...seed, env: [{ name: 'GARDEN_KUBECONFIG', value: '/mine' }] }],
    ['a cluster without a gardenlet', {}],
  ])('ask for no account in %s', async (_, values) => {
    const objects = await renderChart({ namespace, values });
    expect(ofKind(objects, 'Secret')).toEqual([]);
    const text = JSON.stringify(ofKind(objects, 'Deployment'));
    expect(text).not.toContain('/generic-kubeconfig/');
    expect(text).not.toContain(INJECTION);
  });

  it('let the Prometheus instances of a seed read the metrics', async () => {
    const services = ofKind(await renderChart({ namespace, values: seed }), 'Service');
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

  it.each([
    ['shoot-flux', seed, ['shoot-flux', 'shoot-flux-webhooks']],
    ['shoot-flux-admission/charts/runtime', operator, ['shoot-flux-admission']],
  ])('of %s are scaled in place, and only the containers of the chart', async (chart, values, names) => {
    const objects = await renderChart({ chart, namespace, values });
    const containersOf = (name: string) => {
      const { template } = find(objects, 'Deployment', name).spec as { template: PodTemplate };
      return template.spec.containers.map((container) => container.name);
    };
    const scalers = ofKind(objects, 'VerticalPodAutoscaler').map(({ metadata, spec }) => [metadata.name, spec]);
    expect(scalers).toEqual(
      names.map((name) => [
        name,
        {
          targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
          updatePolicy: { updateMode: 'InPlaceOrRecreate' },
          resourcePolicy: {
            containerPolicies: [
              ...containersOf(name).map((containerName) => ({
                ...{ containerName, controlledValues: 'RequestsOnly', minAllowed: { memory: '64Mi' } },
              })),
              { containerName: '*', mode: 'Off' },
            ],
          },
        },
      ]),
    );
  });

  it('make fields of the lines that a Pod logs, and of no others', async () => {
    const objects = await renderChart({ namespace, values: seed });
    const [filter, parser] = [find(objects, 'ClusterFilter'), find(objects, 'ClusterParser')];
    for (const { metadata } of [filter, parser])
      expect(metadata.labels).toMatchObject({ 'fluentbit.gardener/type': 'seed' });
    const { match, filters } = filter.spec as { match: string; filters: { parser?: { parser: string } }[] };
    expect(filters[0]?.parser?.parser).toBe(parser.metadata.name);
    // fluent-bit replaces each `*` by any text.
    const pattern = new RegExp(`^${match.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const tagOf = (place: string) => `kubernetes.var.log.containers.${place}-0a1b2c.log`;
    const names = ofKind(objects, 'Deployment').flatMap(({ spec }) => {
      const { template } = spec as { template: { spec: { containers: { name: string }[] } } };
      return template.spec.containers.map(({ name }) => name);
    });
    expect(names).toHaveLength(2);
    for (const name of names) expect(tagOf(`${name}-5d6f_${namespace}_${name}`)).toMatch(pattern);
    expect(tagOf('shoot-flux-5d6f_other_shoot-flux')).not.toMatch(pattern);
  });

  it('let the Prometheus `aggregate` read the metrics where the operator hands it the alerts', async () => {
    const labels = aggregate;
    const objects = await renderChart({ namespace, values: forAggregate });
    for (const kind of ['ServiceMonitor', 'PrometheusRule'])
      expect(find(objects, kind).metadata.labels).toMatchObject(labels);
    const { selector } = find(objects, 'Service').spec as { selector: Record<string, string> };
    const { 'app.kubernetes.io/component': _, ...matchLabels } = selector;
    const inNamespace = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
    const [ours, theirs] = [{ podSelector: { matchLabels } }, { podSelector: { matchLabels: labels } }];
    const ports = [{ port: 'metrics' }];
    const from = [{ namespaceSelector: inNamespace('garden'), ...theirs }];
    const to = [{ namespaceSelector: inNamespace(namespace), ...ours }];
    expect(ofKind(objects, 'NetworkPolicy')).toMatchObject([
      { metadata: { namespace }, spec: { ...ours, ingress: [{ from, ports }] } },
      { metadata: { namespace: 'garden' }, spec: { ...theirs, egress: [{ to, ports }] } },
    ]);
    expect((await renderChart({ namespace, values: seed })).map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });

  it.each([
    ['in a self-hosted Shoot', selfHostedValues('garden', 'root'), ['managed-resources', 'push', 'readiness']],
    ['in no seed', seed, []],
  ])('administer the cluster %s', async (_, values, functions) => {
    const bindings = ofKind(await renderChart({ namespace, values }), 'ClusterRoleBinding');
    const admins = bindings.filter(({ roleRef }) => (roleRef as { name: string }).name === 'cluster-admin');
    expect(admins.map(({ metadata }) => metadata.name.split(':').at(-2))).toEqual(functions);
    for (const { subjects } of admins)
      expect(subjects).toEqual([{ kind: 'ServiceAccount', namespace, name: 'shoot-flux' }]);
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
      const functions = ['managed-resources', 'push', 'readiness', 'sync-mode'];
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

  it('of the bridges know where to send, and sign for AWS with a role by a token of their own, or with a Secret', async () => {
    const render = (more: object) => renderChart({ namespace, values: { ...seed, ...more } });
    const withQueues = (more: object) => render({ mode: 'bridge-sqs', sqs: { ...sqs, ...more } });
    const sink = 'http://broker.example.com/a/b';
    expect(configOf(await render({ mode: 'bridge-knative', knative: { sink } }))).toMatchObject({ sink });
    const endpoint = 'http://queues.example.com';
    expect(configOf(await withQueues({ endpoint }))).toMatchObject({ ...sqs, sqsEndpoint: endpoint });
    const roleArn = 'arn:aws:iam::123456789012:role/watcher';
    const withRole = podOf(await withQueues({ roleArn })).spec;
    const token = { path: 'token', audience: 'sts.amazonaws.com', expirationSeconds: 3600 };
    expect(withRole).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'aws-token', projected: { sources: [{ serviceAccountToken: token }] } },
      ]),
    });
    const { env, volumeMounts } = withRole.containers[0] ?? {};
    const mountPath = '/var/run/secrets/shoot-flux/aws';
    expect(volumeMounts).toContainEqual({ name: 'aws-token', mountPath, readOnly: true });
    expect(env).toContainEqual({ name: 'AWS_ROLE_ARN', value: roleArn });
    expect(env).toContainEqual({ name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: `${mountPath}/token` });
    const withSecret = podOf(await withQueues({ region: 'eu-1', credentialsSecretName: 'aws' })).spec.containers[0];
    const from = (key: string) => ({ name: key, valueFrom: { secretKeyRef: { name: 'aws', key } } });
    const variables = [{ name: 'AWS_REGION', value: 'eu-1' }, from('AWS_ACCESS_KEY_ID'), from('AWS_SECRET_ACCESS_KEY')];
    expect(withSecret?.env).toEqual(expect.arrayContaining(variables));
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

describe('the webhooks of a seed', () => {
  it('have the rights of their definitions, for the objects of this installation', async () => {
    const objects = await renderChart({ namespace, values: seed });
    const { name } = find(objects, 'MutatingWebhookConfiguration').metadata;
    expect(name).toMatch(new RegExp(`^${CONFIGURATION}-[0-9a-f]{8}$`));
    const rules = await shippedRules('seed');
    for (const identity of ['webhooks', 'resource-manager-webhook']) {
      const expected = JSON.stringify(rules[identity]).replaceAll(CONFIGURATION, name);
      expect(find(objects, 'ClusterRole', `:${identity}`).rules).toEqual(JSON.parse(expected));
    }
  });

  it('keep their caBundle from the resource-manager', async () => {
    const configuration = find(await renderChart({ namespace, values: seed }), 'MutatingWebhookConfiguration');
    expect(configuration.metadata.annotations).toMatchObject({ 'resources.gardener.cloud/ignore': 'true' });
  });

  it('are left out where they are not wanted', async () => {
    const enabled = false;
    const metrics = { serviceMonitor: { enabled }, prometheusRule: { enabled }, dashboard: { enabled } };
    const logging = { enabled };
    const without = { webhooks: { enabled }, podDisruptionBudget: { enabled }, vpa: { enabled }, metrics, logging };
    const objects = await renderChart({ namespace, values: { ...seed, ...without } });
    const ofLogs = ['ClusterFilter', 'ClusterParser'];
    const forGardener = ['VerticalPodAutoscaler', 'ServiceMonitor', 'PrometheusRule', ...ofLogs];
    const optional = ['MutatingWebhookConfiguration', 'PodDisruptionBudget', ...forGardener];
    expect(kindsOf(objects).filter((kind) => optional.includes(kind))).toEqual([]);
    expect(ofKind(objects, 'Deployment')).toHaveLength(1);
    const all = kindsOf(await renderChart({ namespace, values: seed }));
    expect(optional.filter((kind) => !all.includes(kind))).toEqual([]);
    const empty = kindsOf(await renderChart({ namespace }));
    expect(empty.filter((kind) => forGardener.includes(kind))).toEqual([]);
  });
});
