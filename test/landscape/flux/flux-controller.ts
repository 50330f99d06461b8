import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Connection,
  createKubeClient,
  type KubeClient,
  type KubeObject,
  type ObjectName,
  type Resource,
} from '../client/client.ts';
import { createDiscovery, type Discovery } from '../controllers/discovery.ts';
import { type Informer, startInformer } from '../controllers/informer.ts';
import { type Controller, createWorkQueue, nameOf, objectText } from '../controllers/work-queue.ts';
import { type FluxObject, isWoken } from './status.ts';

/** Dependencies of one attempt. */
export interface AttemptContext {
  client: KubeClient;
  discovery: Discovery;
  resource: Resource;
}

export interface FluxControllerOptions {
  group: string;
  kind: string;
  userAgent: string;
  /** @returns the pause before the next attempt, in ms @throws for a retry with back-off */
  reconcile(name: ObjectName, context: AttemptContext): Promise<number | undefined>;
  /** Objects of another kind whose changes trigger an attempt. */
  also?: { group: string; kind: string; wakes(object: KubeObject, ours: Iterable<FluxObject>): Iterable<FluxObject> };
}

/** Delays after failures, as Flux's controllers have them by default. */
const retries = { baseMs: 750, maxMs: 900_000 };

/** Waits for the CRD, then reconciles each object when it changes. */
export async function startFluxController(connection: Connection, options: FluxControllerOptions): Promise<Controller> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = createKubeClient(connection, { userAgent: options.userAgent, timeoutMs: 30_000 });
  const discovery = createDiscovery(connection);
  const stops: (() => Promise<unknown>)[] = [];

  const served = async (group: string, kind: string) => {
    while (!signal.aborted) {
      const resource = await discovery.preferred(group, kind).catch(() => undefined);
      if (resource !== undefined) return resource;
      await sleep(100, undefined, { signal }).catch(() => {});
    }
    return undefined;
  };

  const begin = async () => {
    const resource = await served(options.group, options.kind);
    if (resource === undefined) return;
    const queue = createWorkQueue({
      ...retries,
      reconcile: (key) => options.reconcile(nameOf(key), { client, discovery, resource }),
    });
    const informer = startInformer<FluxObject>(
      client,
      resource,
      { signal },
      {
        onChange(object, old) {
          if (isWoken(object, old)) queue.add(objectText(object.metadata));
        },
      },
    );
    stops.push(
      () => queue.stop(),
      () => informer.stopped,
    );
    await watchAlso(informer, (object) => queue.add(objectText(object.metadata)));
  };

  const watchAlso = async (ours: Informer<FluxObject>, add: (object: FluxObject) => void) => {
    if (options.also === undefined) return;
    const { group, kind, wakes } = options.also;
    const resource = await served(group, kind);
    if (resource === undefined) return;
    const onChange = (object: KubeObject) => {
      for (const woken of wakes(object, ours.objects.values())) add(woken);
    };
    const informer = startInformer(client, resource, { signal }, { onChange });
    stops.push(() => informer.stopped);
  };

  const begun = begin();
  return {
    async stop() {
      stopping.abort();
      await begun;
      await Promise.all(stops.map((stop) => stop()));
      client.close();
      discovery.close();
    },
  };
}
