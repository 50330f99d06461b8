import type { ServerResponse } from 'node:http';
import { vi } from 'vitest';
import { collectionPath, type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { type SeenRequest, sendJson, startTlsServer, statusBody } from '../../shared/kube/testing.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { FunctionDefinition, Subscription } from '../../shared/runtime/definition.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { patientClient } from '../../test/patient-client.ts';
import { openQueue } from '../queue/queue.ts';
import { definitionOf } from '../testing.ts';
import { defaultTiming, type Timing } from './timing.ts';
import { createWatcher, type WatcherOptions } from './watcher.ts';

type Event = { type: string; object: KubeObject };

/**
 * Short times for quick tests. What depends on how fast the machine is has the time of production or none: a silent watch,
 * a stuck loop and a seed that is not waited for any more.
 */
export const quick: Timing = {
  ...defaultTiming,
  ...{ debounceMs: 1, backoffMs: 5, backoffCapMs: 20, shortWatchMs: 0, patienceMs: 1e9 },
  watchSeconds: [300, 300],
};

/**
 * List and watch of any resource over TLS, with the faults that a test asks for at the moment it asks for them. What
 * an API server does without faults is tested against the landscape's.
 */
export async function startListWatch() {
  const objects = new Map<string, Map<string, KubeObject>>();
  const history: { path: string; event: Event }[] = [];
  const watches = new Set<{ path: string; response: ServerResponse }>();
  let version = 100;
  let oldest = 0;
  let fault: ((request: SeenRequest, response: ServerResponse) => boolean) | undefined;

  const collection = (path: string) => {
    const found = objects.get(path) ?? new Map<string, KubeObject>();
    objects.set(path, found);
    return found;
  };
  const happen = (path: string, event: Event) => {
    history.push({ path, event });
    for (const watch of watches) if (watch.path === path) write(watch.response, event);
  };

  const server = await startTlsServer((request, response) => {
    if (fault?.(request, response)) return;
    const { pathname: path, searchParams } = request.url;
    if (searchParams.get('watch') !== 'true') return list(path, searchParams, response);
    const from = Number(searchParams.get('resourceVersion'));
    if (from < oldest) return sendJson(response, 410, statusBody(410, 'Expired', 'too old resource version'));
    const watch = { path, response };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    response.on('close', () => watches.delete(watch));
    watches.add(watch);
    for (const { path: at, event } of history) {
      if (at === path && Number(event.object.metadata.resourceVersion) > from) write(response, event);
    }
  });

  const list = (path: string, search: URLSearchParams, response: ServerResponse) => {
    const all = [...collection(path).values()];
    const from = Number(search.get('continue') ?? 0);
    const to = from + Number(search.get('limit') ?? all.length);
    const metadata = { resourceVersion: String(version), ...(to < all.length && { continue: String(to) }) };
    sendJson(response, 200, { metadata, items: all.slice(from, to) });
  };

  return {
    connection: server.connection,
    client: patientClient(server.connection),
    requests: server.requests,
    /** Requests that begin a watch. */
    watchRequests: () => server.requests.filter(({ url }) => url.searchParams.get('watch') === 'true'),
    listRequests: () => server.requests.filter(({ url }) => url.searchParams.get('watch') !== 'true'),
    openWatches: () => watches.size,
    /** Creates or changes an object; keeps its uid unless another one is given. */
    put(resource: Resource, object: Partial<KubeObject> & Pick<KubeObject, 'metadata'>): KubeObject {
      const path = collectionPath(resource);
      const name = `${object.metadata.namespace}/${object.metadata.name}`;
      const old = collection(path).get(name);
      const resourceVersion = String(++version);
      const uid = object.metadata.uid ?? old?.metadata.uid ?? `uid-${resourceVersion}`;
      const metadata = { ...object.metadata, uid, resourceVersion };
      const stored = { ...object, apiVersion: 'v1', kind: resource.kind, metadata };
      collection(path).set(name, stored);
      happen(path, { type: old ? 'MODIFIED' : 'ADDED', object: stored });
      return stored;
    },
    remove(resource: Resource, { metadata }: KubeObject) {
      const path = collectionPath(resource);
      collection(path).delete(`${metadata.namespace}/${metadata.name}`);
      const last = { ...metadata, resourceVersion: String(++version) };
      happen(path, { type: 'DELETED', object: { apiVersion: 'v1', kind: resource.kind, metadata: last } });
    },
    bookmark(resource: Resource): string {
      const resourceVersion = String(++version);
      const object = { apiVersion: 'v1', kind: resource.kind, metadata: { name: '', resourceVersion } };
      const event = { type: 'BOOKMARK', object };
      for (const watch of watches) if (watch.path === collectionPath(resource)) write(watch.response, event);
      return resourceVersion;
    },
    /** Forgets the past events: a watch from there gets 410. */
    compact() {
      history.length = 0;
      oldest = version;
    },
    /** Ends all watches, as an API server does after their time limit. */
    endWatches() {
      for (const { response } of watches) response.end();
      watches.clear();
    },
    /** Breaks all connections. */
    reset: server.reset,
    /** Answers requests instead of the API; returns whether it did. */
    answerWith(handler: typeof fault) {
      fault = handler;
    },
    async [Symbol.asyncDispose]() {
      this.client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type ListWatch = Awaited<ReturnType<typeof startListWatch>>;

/** Lets requests that it answers fail with this status. */
export function refuse(status: number, reason: string, headers = {}) {
  return (_: SeenRequest, response: ServerResponse): boolean => {
    sendJson(response, status, statusBody(status, reason, 'as the test says'), headers);
    return true;
  };
}

function write(response: ServerResponse, event: Event): void {
  response.write(`${JSON.stringify(event)}\n`);
}

/** An Extension of a Shoot. */
export function extension(namespace: string, fields: object = {}, metadata: object = {}) {
  return { metadata: { namespace, name: 'shoot-flux', generation: 1, ...metadata }, ...fields };
}

/** A function that wakes on the generation of objects in seeds, whose keys have their names. */
export function on(resource: Resource, name: string, subscription: Partial<Subscription> = {}): FunctionDefinition {
  const keys: Subscription['keys'] = ({ metadata }, cluster) => [
    { cluster, namespace: metadata.namespace ?? '', name: metadata.name },
  ];
  const wakes: Subscription['wakes'] = ({ metadata }) => metadata.generation;
  return definition(name, [{ in: 'seed', resource, wakes, keys, ...subscription }]);
}

export function onExtensions(name = 'managed-resources', subscription: Partial<Subscription> = {}): FunctionDefinition {
  return on(resources.extensions, name, subscription);
}

/** A function that wakes on any change of a Shoot's ManagedResources. */
export function onManagedResources(name = 'managed-resources'): FunctionDefinition {
  return on(resources.managedResources, name, {
    labelSelector: 'origin=shoot-flux',
    wakes: ({ metadata }) => metadata.resourceVersion,
    keys: ({ metadata }, cluster) => [{ cluster, namespace: metadata.namespace ?? '', name: 'shoot-flux' }],
  });
}

export function definition(name: string, subscriptions: Subscription[]): FunctionDefinition {
  return definitionOf(name, { subscriptions, resync: true });
}

/** A watcher, by default of one seed, and what is sent for it. */
export function watching(
  api: Pick<ListWatch, 'client'>,
  definitions: FunctionDefinition[],
  options: Partial<WatcherOptions> = {},
) {
  const sent: ChangeRequest[] = [];
  const lines: string[] = [];
  const log = createLog('debug', (line) => lines.push(line));
  const queue = openQueue({ definitions, metrics: noMetrics, concurrency: Infinity });
  const sender = { send: async (changes: ChangeRequest[]) => void sent.push(...changes) };
  const forwarding = queue.forward({ sender, log, metrics: noMetrics });
  const watcher = createWatcher({
    definitions,
    clusters: { garden: false, seeds: ['seed'] },
    kube: async () => api.client,
    emit: queue.add,
    log,
    metrics: noMetrics,
    timing: quick,
    ...options,
  });
  watcher.start();
  return {
    ...watcher,
    /** True when the first sync is done, and all its changes are sent. */
    ready: () => watcher.ready() && forwarding.status().every(({ waiting }) => waiting === 0),
    async stop() {
      await watcher.stop();
      await forwarding.stop();
    },
    sent,
    lines,
    /** The changes that were sent: `function namespace/name because Kind name`. */
    short: () =>
      sent.map(({ function: name, key, cause }) => {
        const why =
          cause.type === 'object' ? `${cause.kind} ${cause.name}${cause.deleted ? ' deleted' : ''}` : cause.type;
        return `${name} ${key.namespace}/${key.name} because ${why}`;
      }),
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

/** Waits until the check holds. The default of one second is too short on a busy machine. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 240_000, interval: 10 });
}
