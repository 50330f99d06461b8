import { parseAllDocuments } from 'yaml';
import { BROKER, knativeManifests, NAMESPACE } from '../../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../../shared/kube/resource.ts';
import { type DataPlane, DISPATCHER_PORT, put, putNamespace } from './data-plane.ts';

/** Returns the address of what a Trigger or a dead-letter sink names: the Service of a function, or the bridge. */
export type AddressOf = (service: string) => string;

interface Delivery {
  retry: number;
  backoffPolicy: string;
  backoffDelay: string;
  timeout: string;
  deadLetterSink: { ref: { name: string } };
}

/** Returns the objects of a file of our manifests, in their namespace. */
export async function manifest(file: string): Promise<KubeObject[]> {
  const text = (await knativeManifests())[`base/${file}.yaml`] ?? '';
  return parseAllDocuments(text).map((document) => {
    const object = document.toJS() as KubeObject;
    return { ...object, metadata: { ...object.metadata, namespace: NAMESPACE } };
  });
}

/** Returns the address that the broker will have. */
export function brokerUrl({ ingressPort }: DataPlane): string {
  return `http://127.0.0.1:${ingressPort}/${NAMESPACE}/${BROKER}`;
}

/**
 * Creates the broker and the Triggers of our manifests, and writes what Knative's controllers would write: the channel
 * behind the broker with one subscriber for each Trigger, and all states.
 */
export async function createBroker(plane: DataPlane, addressOf: AddressOf): Promise<void> {
  const { server, filterPort } = plane;
  await putNamespace(server, NAMESPACE);
  const [broker] = await manifest('broker');
  if (broker === undefined) throw new Error('there is no broker in the manifests');
  const { name } = broker.metadata;
  const channel = `${name}-kne-trigger`;
  const url = brokerUrl(plane);
  await put(server, broker);
  const own = { apiVersion: broker.apiVersion, kind: broker.kind, metadata: { namespace: NAMESPACE, name } };
  await put(server, { ...own, status: brokerStatus(url, channel) } as KubeObject, '/status');
  const subscribers: object[] = [];
  const { delivery } = broker.spec as { delivery: Delivery };
  for (const trigger of await manifest('triggers')) {
    const { metadata, spec } = await put(server, trigger);
    const { subscriber } = spec as { subscriber: { ref: { name: string } } };
    const { apiVersion, kind } = trigger;
    const subscriberUri = addressOf(subscriber.ref.name);
    const status = { subscriberUri, conditions: conditions(...triggerStates), observedGeneration: 1 };
    const id = { namespace: NAMESPACE, name: metadata.name };
    await put(server, { apiVersion, kind, metadata: id, status } as unknown as KubeObject, '/status');
    const path = `http://127.0.0.1:${filterPort}/triggers/${NAMESPACE}/${metadata.name}/${metadata.uid}`;
    subscribers.push({
      uid: metadata.uid,
      generation: 1,
      subscriberUri: path,
      replyUri: url,
      delivery: { ...delivery, deadLetterSink: { uri: addressOf(delivery.deadLetterSink.ref.name) } },
    });
  }
  await createChannel(plane, channel, subscribers);
}

async function createChannel({ server }: DataPlane, name: string, subscribers: object[]): Promise<void> {
  const channel = {
    apiVersion: 'messaging.knative.dev/v1',
    kind: 'InMemoryChannel',
    metadata: {
      namespace: NAMESPACE,
      name,
      // Knative copies the second one from the Broker.
      annotations: { 'messaging.knative.dev/subscribable': 'v1', 'messaging.knative.dev/async-handler': 'true' },
    },
  };
  const { metadata } = await put(server, { ...channel, spec: { subscribers } } as KubeObject);
  const status = {
    observedGeneration: metadata.generation,
    conditions: conditions(...channelStates),
    address: { url: `http://${name}.${NAMESPACE}.svc.cluster.local` },
  };
  const id = { namespace: NAMESPACE, name };
  const { apiVersion, kind } = channel;
  await put(server, { apiVersion, kind, metadata: id, status } as unknown as KubeObject, '/status');
}

function brokerStatus(url: string, channel: string) {
  return {
    observedGeneration: 1,
    address: { url },
    annotations: {
      'knative.dev/channelAddress': `http://127.0.0.1:${DISPATCHER_PORT}/${NAMESPACE}/${channel}`,
      'knative.dev/channelAPIVersion': 'messaging.knative.dev/v1',
      'knative.dev/channelKind': 'InMemoryChannel',
      'knative.dev/channelName': channel,
    },
    conditions: conditions('Ready', 'Addressable'),
  };
}

const triggerStates = ['Ready', 'BrokerReady', 'SubscriberResolved', 'SubscriptionReady', 'DependencyReady'];
const channelStates = [
  'Ready',
  'Addressable',
  'ChannelServiceReady',
  'DispatcherReady',
  'EndpointsReady',
  'ServiceReady',
];

function conditions(...types: string[]) {
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  return types.map((type) => ({ type, status: 'True', lastTransitionTime }));
}
