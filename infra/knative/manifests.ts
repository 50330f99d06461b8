import { stringify } from 'yaml';
import { DELAY, typeOf } from '../../events/cloudevents/event.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { findDefinitions, pushDefinition } from '../functions.ts';
import { yaml } from '../gardener/manifests.ts';

/** The namespace of everything that Knative runs; an overlay may choose another one. */
export const NAMESPACE = 'shoot-flux';

/** The broker, and the start of every other name. */
export const BROKER = 'shoot-flux';

export const WATCHER = 'shoot-flux-watcher';

/** The function that answers Git hosts. */
const PUSH = pushDefinition.name;

/** The config file of all commands; an overlay makes the ConfigMap. */
const CONFIG = 'shoot-flux-config';

/** Port for events and probes of a function, and of the bridge for probes. */
export const PORT = 8080;

/** Port of the bridge for changes that wait, and for dead letters. */
export const EVENTS_PORT = 8081;

/** Returns the name of a function's Service, Trigger and ServiceAccount. */
export function nameOf(functionName: string): string {
  return `shoot-flux-${functionName}`;
}

function labelsOf(component: string): Record<string, string> {
  return { 'app.kubernetes.io/name': 'shoot-flux', 'app.kubernetes.io/component': component };
}

/** Image name that overlays replace. */
const IMAGE = 'shoot-flux';

/**
 * Returns the part of a pod that functions and the bridge have in common: no rights in their own cluster, a read-only root,
 * the config file, and the kubeconfigs of this identity alone.
 * @param identity name of the ServiceAccount, and of the Secret with the kubeconfigs
 */
function podSpec(identity: string, args: string[], resources: object, extra: object = {}) {
  return {
    serviceAccountName: identity,
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'shoot-flux',
        image: IMAGE,
        args: [...args, '--config', '/etc/shoot-flux/config.yaml'],
        ports: [{ containerPort: PORT }],
        resources,
        readinessProbe: { httpGet: { path: '/readyz', port: PORT } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        volumeMounts: [
          { name: 'config', mountPath: '/etc/shoot-flux', readOnly: true },
          { name: 'kubeconfigs', mountPath: '/kubeconfigs', readOnly: true },
        ],
        ...extra,
      },
    ],
    volumes: [
      { name: 'config', configMap: { name: CONFIG } },
      { name: 'kubeconfigs', secret: { secretName: identity } },
    ],
  };
}

const EVENTING = 'eventing.knative.dev/v1';
const SERVING = 'serving.knative.dev/v1';

const watcherService = { apiVersion: 'v1', kind: 'Service', name: WATCHER };
const brokerRef = { apiVersion: EVENTING, kind: 'Broker', name: BROKER };
const serviceRef = (name: string) => ({ apiVersion: SERVING, kind: 'Service', name: nameOf(name) });

/** Requests of an instance at a time: twice its runs, because what arrives for a key that runs waits for it. */
const MOST_REQUESTS = 40;

/** Instances of a function. Each has 20 runs at a time, and every run costs the API servers requests. */
const MOST_INSTANCES = '5';

/** A run of ten seconds, after another one of its key. */
const ANSWER_SECONDS = 30;

/** Returns the broker. After its short retries, events go to the bridge, which knows longer waits. */
export function broker(): KubeObject {
  return {
    apiVersion: EVENTING,
    kind: 'Broker',
    metadata: {
      name: BROKER,
      annotations: {
        'eventing.knative.dev/broker.class': 'MTChannelBasedBroker',
        // Otherwise a sender waits until its event is delivered, with all retries.
        'messaging.knative.dev/async-handler': 'true',
      },
    },
    spec: {
      delivery: {
        retry: 5,
        backoffPolicy: 'exponential',
        backoffDelay: 'PT0.5S',
        timeout: `PT${ANSWER_SECONDS}S`,
        deadLetterSink: { ref: watcherService },
      },
    },
  };
}

/** Returns one Trigger for each function, and one for the changes that wait. */
export function triggers(definitions: readonly FunctionDefinition[]): KubeObject[] {
  return [...definitions.map(({ name }) => trigger(name, serviceRef(name))), trigger(DELAY, watcherService)];
}

function trigger(name: string, ref: object): KubeObject {
  return {
    apiVersion: EVENTING,
    kind: 'Trigger',
    metadata: { name: nameOf(name), labels: labelsOf(name) },
    spec: { broker: BROKER, filter: { attributes: { type: typeOf(name) } }, subscriber: { ref } },
  };
}

/** Returns the Knative Service of each function, which scales to zero. */
export function services(definitions: readonly FunctionDefinition[]): KubeObject[] {
  return definitions.map(({ name }) =>
    service(name, ['serve', name], { 'networking.knative.dev/visibility': 'cluster-local' }),
  );
}

/** Returns what answers Git hosts: their account, and a Service that they reach from outside. */
export function pushService(): KubeObject[] {
  const readinessProbe = { httpGet: { path: '/healthz', port: PORT } };
  return [
    serviceAccount(nameOf(PUSH)),
    service(PUSH, ['webhooks', '--webhook-function', PUSH], {}, { readinessProbe }),
  ];
}

function service(name: string, args: string[], labels: Record<string, string>, extra?: object): KubeObject {
  const resources = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } };
  return {
    apiVersion: SERVING,
    kind: 'Service',
    metadata: { name: nameOf(name), labels: { ...labelsOf(name), ...labels } },
    spec: {
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: {
            'autoscaling.knative.dev/min-scale': '0',
            'autoscaling.knative.dev/max-scale': MOST_INSTANCES,
          },
        },
        spec: {
          containerConcurrency: MOST_REQUESTS,
          timeoutSeconds: ANSWER_SECONDS,
          ...podSpec(nameOf(name), args, resources, extra),
        },
      },
    },
  };
}

/** Where Knative's Pods run that deliver events. */
const eventing = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'knative-eventing' } } };

/** Returns the bridge: the watcher, which also keeps the timers and the dead letters. */
export function watcher(): KubeObject[] {
  const labels = labelsOf('watcher');
  const args = ['watch', '--port', '8080', '--events-port', String(EVENTS_PORT)];
  const resources = { requests: { cpu: '100m', memory: '192Mi' }, limits: { memory: '512Mi' } };
  const livenessProbe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 30 };
  const ports = [{ containerPort: 8080 }, { containerPort: EVENTS_PORT }];
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: WATCHER, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec(WATCHER, args, resources, { livenessProbe, ports }) },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: WATCHER, labels },
      spec: { selector: labels, ports: [{ name: 'events', port: 80, targetPort: EVENTS_PORT }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: WATCHER, labels },
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress'],
        // Events have no signature: only Knative's own Pods may deliver them.
        ingress: [{ ports: [{ port: 8080 }] }, { from: [eventing], ports: [{ port: EVENTS_PORT }] }],
      },
    },
  ];
}

function sinkBindings(definitions: readonly FunctionDefinition[]): KubeObject[] {
  return [
    sinkBinding(WATCHER, { apiVersion: 'apps/v1', kind: 'Deployment', name: WATCHER }),
    ...definitions.map(({ name }) => sinkBinding(nameOf(name), serviceRef(name))),
  ];
}

function sinkBinding(name: string, subject: object): KubeObject {
  return {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'SinkBinding',
    metadata: { name },
    spec: { subject, sink: { ref: brokerRef } },
  };
}

/** Returns the namespace, in which Knative may inject addresses, and one identity for the bridge and each function. */
export function identities(definitions: readonly FunctionDefinition[]): KubeObject[] {
  const labels = { 'bindings.knative.dev/include': 'true', 'pod-security.kubernetes.io/enforce': 'restricted' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } },
    ...[WATCHER, ...definitions.map(({ name }) => nameOf(name))].map(serviceAccount),
  ];
}

function serviceAccount(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, automountServiceAccountToken: false };
}

function eventPolicy(definitions: readonly FunctionDefinition[]): KubeObject {
  const apiVersion = 'sources.knative.dev/v1';
  return {
    apiVersion: 'eventing.knative.dev/v1alpha1',
    kind: 'EventPolicy',
    metadata: { name: BROKER },
    spec: {
      to: [{ ref: brokerRef }],
      from: sinkBindings(definitions).map(({ metadata: { name } }) => ({
        ref: { apiVersion, kind: 'SinkBinding', name },
      })),
    },
  };
}

export const KNATIVE = new URL('./', import.meta.url);

/** The image of the example, to be replaced. */
const EXAMPLE_IMAGE = { newName: 'registry.example.com/shoot-flux', newTag: '0.1.0' };

/** Generates the Kustomize base and its overlays from the functions' definitions, by file name. */
export async function knativeManifests(image = EXAMPLE_IMAGE): Promise<Record<string, string>> {
  const definitions = await findDefinitions();
  const base = {
    'identities.yaml': identities(definitions),
    'broker.yaml': [broker()],
    'triggers.yaml': triggers(definitions),
    'services.yaml': services(definitions),
    'watcher.yaml': watcher(),
    'sink-bindings.yaml': sinkBindings(definitions),
  };
  return {
    'base/kustomization.yaml': kustomization({
      resources: Object.keys(base),
      configurations: ['name-references.yaml'],
    }),
    'base/name-references.yaml': yaml([{ nameReference: nameReferences }]),
    ...Object.fromEntries(Object.entries(base).map(([name, objects]) => [`base/${name}`, yaml(objects)])),
    ...component('event-policy', [eventPolicy(definitions)]),
    ...component('push', pushService()),
    'overlays/example/kustomization.yaml': kustomization({
      resources: ['../../base'],
      configMapGenerator: [{ name: CONFIG, files: ['config.yaml'] }],
      images: [{ name: IMAGE, ...image }],
    }),
    'overlays/example/config.yaml': stringify({
      garden: '/kubeconfigs/garden',
      seeds: { 'my-seed': '/kubeconfigs/my-seed' },
      fluxDistribution: '/flux-distribution',
      shootAccess: 'external',
    }),
  };
}

/** Kustomize gives a ConfigMap or Secret that it generates another name with each change, and knows no Knative Services. */
const nameReferences = [
  ['ConfigMap', 'configMap/name'],
  ['Secret', 'secret/secretName'],
].map(([kind, path]) => ({
  ...{ kind, version: 'v1' },
  fieldSpecs: [{ group: 'serving.knative.dev', kind: 'Service', path: `spec/template/spec/volumes/${path}` }],
}));

/** Returns an overlay that others can add. */
function component(name: string, objects: KubeObject[]): Record<string, string> {
  const text = kustomization({ resources: [`${name}.yaml`] }, 'Component', 'v1alpha1');
  return { [`overlays/${name}/kustomization.yaml`]: text, [`overlays/${name}/${name}.yaml`]: yaml(objects) };
}

function kustomization(fields: object, kind = 'Kustomization', version = 'v1beta1'): string {
  return yaml([{ apiVersion: `kustomize.config.k8s.io/${version}`, kind, namespace: NAMESPACE, ...fields }]);
}
