import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { Connection } from './connection.ts';
import { unlessGone } from './errors.ts';
import { collectionPath, objectPath, queryText } from './path.ts';
import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from './resource.ts';
import {
  answer,
  createTransport,
  exchange,
  type KubeClientOptions,
  type Request,
  type RequestInfo,
  type Transport,
  withTimeLimit,
} from './transport.ts';

export type { KubeClientOptions, RequestInfo } from './transport.ts';

/** A `KubeClient` with the methods for its owner. */
export interface HttpKubeClient extends KubeClient {
  /** Returns a client over the same connections with other options, for one function or one run. */
  with(options: KubeClientOptions): HttpKubeClient;
  /** Closes the connections, which clients made by `with` share. */
  close(): void;
}

/**
 * Creates a client for one API server over one pool of keep-alive connections.
 * Objects always carry `apiVersion` and `kind` of the resource, even from lists and metadata-only.
 * @throws ShootFluxError when `server` is not an https URL
 */
export function createKubeClient(connection: Connection, options: KubeClientOptions = {}): HttpKubeClient {
  return clientOver(createTransport(connection, options));
}

const jsonType = 'application/json';
const mergePatchType = 'application/merge-patch+json';
const applyType = 'application/apply-patch+yaml';

function clientOver(transport: Transport): HttpKubeClient {
  const call = <T>(request: Request): Promise<T> =>
    withTimeLimit(transport, async (signal) =>
      answer<T>(transport, request, await exchange(transport, request, signal), signal),
    );
  const write = async <T extends KubeObject>(request: Request): Promise<T> =>
    typed(request.resource, await call<T>(request));

  return {
    async find<T extends KubeObject>(resource: Resource, name: ObjectName, options?: { metadataOnly?: boolean }) {
      const accept = acceptOf(options?.metadataOnly, 'PartialObjectMetadata');
      const request = { method: 'GET', resource, name, path: objectPath(resource, name), accept };
      const object = await unlessGone(call<T>(request));
      return object && typed(resource, object);
    },

    async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<ObjectList<T>> {
      const { namespace, labelSelector, fieldSelector, limit, continue: token, onItem } = options;
      const query = queryText({ labelSelector, fieldSelector, limit, continue: token });
      const list = await call<{ items?: T[] | null; metadata: { resourceVersion?: string; continue?: string } }>({
        method: 'GET',
        resource,
        name: { namespace },
        path: collectionPath(resource, namespace) + query,
        accept: acceptOf(options.metadataOnly, 'PartialObjectMetadataList'),
        ...(onItem && { read: itemsOneByOne((item, bytes) => onItem(typed(resource, item), bytes)) }),
      });
      const items = list.items ?? [];
      for (const item of items) typed(resource, item);
      const next = list.metadata.continue;
      return { items, resourceVersion: list.metadata.resourceVersion ?? '', ...(next ? { continue: next } : {}) };
    },

    watch: (resource, options) => typedWatch(transport, resource, options),

    create: <T extends KubeObject>(resource: Resource, object: T, { fieldManager }: WriteOptions) =>
      write<T>({
        method: 'POST',
        resource,
        name: object.metadata,
        path: collectionPath(resource, object.metadata.namespace) + queryText({ fieldManager }),
        contentType: jsonType,
        body: typed(resource, { ...object }),
      }),

    replace: <T extends KubeObject>(resource: Resource, object: T, { fieldManager, subresource }: WriteOptions) =>
      write<T>({
        method: 'PUT',
        resource,
        name: object.metadata,
        path: objectPath(resource, object.metadata, subresource) + queryText({ fieldManager }),
        contentType: jsonType,
        body: typed(resource, { ...object }),
      }),

    apply: <T extends KubeObject>(
      resource: Resource,
      object: KubeObject,
      { fieldManager, subresource, force = true }: WriteOptions & { force?: boolean },
    ) =>
      write<T>({
        method: 'PATCH',
        resource,
        name: object.metadata,
        path: objectPath(resource, object.metadata, subresource) + queryText({ fieldManager, force }),
        contentType: applyType,
        body: typed(resource, { ...object }),
      }),

    mergePatch: <T extends KubeObject>(
      resource: Resource,
      name: ObjectName,
      patch: unknown,
      { fieldManager, subresource }: WriteOptions,
    ) =>
      write<T>({
        method: 'PATCH',
        resource,
        name,
        path: objectPath(resource, name, subresource) + queryText({ fieldManager }),
        contentType: mergePatchType,
        body: patch,
      }),

    async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
      const path = objectPath(resource, name);
      const request = { method: 'DELETE', resource, name, path, contentType: jsonType, body };
      return (await unlessGone(call<object>(request))) !== undefined;
    },

    with: (options) => clientOver({ ...transport, options: merged(transport.options, options) }),
    close: () => transport.agent.destroy(),
  };
}

/** Keeps the old `onRequest` beside the new one. */
function merged(old: KubeClientOptions, { onRequest, ...options }: KubeClientOptions): KubeClientOptions {
  if (onRequest === undefined || old.onRequest === undefined) {
    return { ...old, ...options, ...(onRequest && { onRequest }) };
  }
  const both = (info: RequestInfo) => {
    old.onRequest?.(info);
    onRequest(info);
  };
  return { ...old, ...options, onRequest: both };
}

async function* typedWatch(
  transport: Transport,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const query = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
  const request = {
    method: 'GET',
    resource,
    name: { namespace },
    path: collectionPath(resource, namespace) + queryText({ watch: true, allowWatchBookmarks: true, ...query }),
    accept: acceptOf(options.metadataOnly, 'PartialObjectMetadata'),
  };
  // A lazy chunk: functions never watch, and their bundles stay small.
  const { watch } = await import('./watch.ts');
  for await (const event of watch(transport, request, options.signal)) {
    typed(resource, event.object);
    yield event;
  }
}

function itemsOneByOne(
  onItem: (item: KubeObject, bytes: number) => void,
): (body: AsyncIterable<Buffer>) => Promise<unknown> {
  return async (body) => {
    // A lazy chunk, like watch.ts: only the watcher reads lists item by item.
    const [{ scanItems }, { yieldToOthers }] = await Promise.all([
      import('./list-items.ts'),
      import('./event-loop.ts'),
    ]);
    const scanner = scanItems((item) => onItem(JSON.parse(item), item.length));
    for await (const chunk of body) {
      scanner.write(chunk);
      await yieldToOthers();
    }
    return JSON.parse(scanner.end());
  };
}

function acceptOf(metadataOnly: boolean | undefined, kind: string): string {
  return metadataOnly === true ? `application/json;as=${kind};g=meta.k8s.io;v=v1` : jsonType;
}

/** Sets `apiVersion` and `kind`: lists of built-in resources lack them, metadata-only objects have another kind. */
function typed<T extends KubeObject>(resource: Resource, object: T): T {
  object.apiVersion = apiVersionOf(resource);
  object.kind = resource.kind;
  return object;
}
