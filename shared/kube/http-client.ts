import { foreignObject, isRecord } from '../shapes.ts';
import { answer, invalidAnswer, tooManyBytes } from './answer.ts';
import { withCallLimit } from './call-limit.ts';
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
import { KubeError, unlessGone } from './errors.ts';
import { exchange, probe } from './exchange.ts';
import { scanItems } from './list-items.ts';
import {
  apiVersionOf,
  collectionPath,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
  objectPath,
  queryText,
  type Resource,
  resource,
} from './resource.ts';
import {
  createTransport,
  type KubeClientOptions,
  limitsOf,
  type Request,
  type RequestInfo,
  type Transport,
} from './transport.ts';
import { watch } from './watch.ts';

export type { KubeClientOptions, RequestInfo } from './transport.ts';

/** A `KubeClient` with the methods for its owner. */
export interface HttpKubeClient extends KubeClient {
  delete(resource: Resource, name: ObjectName, options?: Partial<DeleteOptions>): Promise<boolean>;
  /** Returns a client over the same connections with other options, for one function or one run. */
  with(options: KubeClientOptions): HttpKubeClient;
  /** Closes the connections, which clients made by `with` share. */
  close(): void;
  /** Closes the connections that serve no request. */
  dropIdle(): void;
  /** Asks over a new connection whether the API server answers, with whatever status. @throws UnreachableError */
  probe(): Promise<void>;
  /** Asks what the server does not store: `/version`, or with a body a review such as a SelfSubjectAccessReview. */
  ask(path: string, body?: object): Promise<unknown>;
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

type Writing = [method: 'POST' | 'PUT' | 'PATCH', contentType: string];

function clientOver(transport: Transport): HttpKubeClient {
  const call = <T>(request: Request): Promise<T> =>
    withCallLimit(transport.options, async (limit) =>
      answer<T>(transport, request, await exchange(transport, request, limit), limit.signal),
    );
  const write = async <T extends KubeObject>(
    [method, contentType]: Writing,
    resource: Resource,
    name: ObjectMeta | ObjectName,
    body: unknown,
    { fieldManager, subresource }: WriteOptions,
  ): Promise<T> => {
    const isCreation = method === 'POST';
    const path = isCreation ? collectionPath(resource, name.namespace) : objectPath(resource, name, subresource);
    const query = queryText({ fieldManager, force: contentType === applyType || undefined });
    const request = { method, resource, name, path: path + query, contentType, body };
    return objectIn<T>(request, await call<unknown>(request));
  };

  return {
    async find<T extends KubeObject>(resource: Resource, name: ObjectName, options?: { metadataOnly?: boolean }) {
      const accept = acceptOf(options?.metadataOnly, 'PartialObjectMetadata');
      const path = objectPath(resource, name);
      const request = { method: 'GET', resource, name, path, accept };
      const object = await unlessGone(call<unknown>(request));
      return object === undefined ? undefined : objectIn<T>(request, object);
    },

    async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<ObjectList<T>> {
      const { namespace, labelSelector, fieldSelector, limit, continue: token, onItem } = options;
      const query = queryText({ labelSelector, fieldSelector, limit, continue: token });
      const { list: maxBytes, stream } = limitsOf(transport);
      const request: Request = {
        method: 'GET',
        resource,
        name: { namespace },
        path: collectionPath(resource, namespace) + query,
        accept: acceptOf(options.metadataOnly, 'PartialObjectMetadataList'),
        maxBytes: onItem ? stream : maxBytes,
      };
      if (onItem) request.read = itemsOneByOne(transport, request, onItem, options.onUnreadable);
      return listIn<T>(request, await call<unknown>(request), options.onUnreadable);
    },

    watch: (resource, options) => typedWatch(transport, resource, options),

    create: (resource, object, options) =>
      write(['POST', jsonType], resource, object.metadata, typed(resource, object), options),

    replace: (resource, object, options) =>
      write(['PUT', jsonType], resource, object.metadata, typed(resource, object), options),

    apply: (resource, object, options) =>
      write(['PATCH', applyType], resource, object.metadata, typed(resource, object), options),

    mergePatch: (resource, name, patch, options) => write(['PATCH', mergePatchType], resource, name, patch, options),

    async delete(resource: Resource, name: ObjectName, { reason: _, ...options }: Partial<DeleteOptions> = {}) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
      const path = objectPath(resource, name);
      const request = { method: 'DELETE', resource, name, path, contentType: jsonType, body };
      return (await unlessGone(call<object>(request))) !== undefined;
    },

    with: (options) => clientOver({ ...transport, options: merged(transport.options, options) }),
    close: () => transport.agent.destroy(),
    dropIdle: () => transport.agent.dropIdle(),
    probe: () => probe(transport),
    ask(path, body) {
      const method = body === undefined ? 'GET' : 'POST';
      return call({ method, resource: unnamed(path), path, ...(body && { body, contentType: jsonType }) });
    },
  };
}

/** Names a path in messages. */
const unnamed = (path: string) => resource('', 'v1', path, path, false);

/** Keeps the old `onRequest` beside the new one. */
function merged(old: KubeClientOptions, options: KubeClientOptions): KubeClientOptions {
  const onRequest = (info: RequestInfo) => {
    old.onRequest?.(info);
    options.onRequest?.(info);
  };
  return { ...old, ...options, onRequest };
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
  const { onUnreadable } = options;
  for await (const { type, object: sent } of watch(transport, request, options.signal)) {
    const object = readable(onUnreadable, () => objectIn(request, sent, type !== 'BOOKMARK'));
    if (object !== undefined) yield { type, object };
  }
}

/** Returns undefined instead of an error for which there is a listener. */
function readable<T extends KubeObject>(onUnreadable: ListOptions['onUnreadable'], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof KubeError)) throw error;
    onUnreadable(error);
    return undefined;
  }
}

/** Parses one item at a time. */
function itemsOneByOne(
  transport: Transport,
  request: Request,
  onItem: (item: KubeObject, bytes: number) => void,
  onUnreadable: ListOptions['onUnreadable'],
): (body: AsyncIterable<Buffer>) => Promise<unknown> {
  return async (body) => {
    const { object: most } = limitsOf(transport);
    const take = (json: string) => {
      const item = readable(onUnreadable, () => objectIn(request, JSON.parse(json)));
      if (item !== undefined) onItem(item, json.length);
    };
    const scanner = scanItems(take, most, () => tooManyBytes(request, transport, most));
    for await (const chunk of body) scanner.write(chunk);
    return JSON.parse(scanner.end());
  };
}

/** @throws UnreachableError when the answer is no list of objects */
function listIn<T extends KubeObject>(
  request: Request,
  value: unknown,
  onUnreadable: ListOptions['onUnreadable'],
): ObjectList<T> {
  const { metadata = {}, items = [] } = isRecord(value) ? value : { metadata: undefined, items: false };
  if (!isRecord(metadata) || !(items === null || Array.isArray(items))) {
    throw invalidAnswer(request, 'the answer is not a list of Kubernetes objects');
  }
  const { resourceVersion, continue: next } = metadata;
  return {
    items: (items ?? []).flatMap((item) => readable(onUnreadable, () => objectIn<T>(request, item)) ?? []),
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    ...(typeof next === 'string' && next !== '' && { continue: next }),
  };
}

/** @throws UnreachableError when the answer is no object, or one without the name that all but bookmarks have */
function objectIn<T extends KubeObject>(request: Request, value: unknown, needsName = true): T {
  const object = foreignObject<T>(request.resource, value);
  if (object === undefined || (needsName && !object.metadata.name))
    throw invalidAnswer(request, 'the answer is not a Kubernetes object with valid metadata');
  return object;
}

function acceptOf(metadataOnly: boolean | undefined, kind: string): string {
  return metadataOnly === true ? `application/json;as=${kind};g=meta.k8s.io;v=v1` : jsonType;
}

/** Returns an object as it is sent, with the `apiVersion` and `kind` of its resource. */
function typed(resource: Resource, object: KubeObject): KubeObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
