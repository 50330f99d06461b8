import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from './objects.ts';
import { ApiError, type ClientOptions, type Connection, createTransport, isNotFound, jsonLines } from './transport.ts';

export * from './objects.ts';
export * from './transport.ts';

export interface ObjectList<T = KubeObject> {
  items: T[];
  resourceVersion: string;
}

export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface WatchOptions {
  resourceVersion: string;
  timeoutSeconds: number;
  signal: AbortSignal;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject;
}

export interface WriteOptions {
  fieldManager: string;
  subresource?: 'status';
}

export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

export type KubeClient = ReturnType<typeof createKubeClient>;

/** A small client for one API server: JSON over a pool of keep-alive connections, without a cache. */
export function createKubeClient(connection: Connection, options: ClientOptions = {}) {
  const transport = createTransport(connection, options);
  const write = async <T extends KubeObject>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    resource: Resource,
    body: unknown,
    contentType?: string,
  ) => typed(resource, await transport.call<T>({ method, path, body, contentType }));

  return {
    /** undefined: there is none. Every other failure throws. */
    async find<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName) {
      const call = transport.call<T>({ method: 'GET', path: objectPath(resource, name) });
      const object = await unlessMissing(call);
      return object && typed(resource, object);
    },

    /** Returns everything in one answer. */
    async list<T extends KubeObject = KubeObject>(
      resource: Resource,
      selection: Selection = {},
    ): Promise<ObjectList<T>> {
      const { namespace, labelSelector, fieldSelector } = selection;
      const path = collectionPath(resource, namespace) + queryText({ labelSelector, fieldSelector });
      const list = await transport.call<{ items?: T[] | null; metadata: { resourceVersion?: string } }>({
        method: 'GET',
        path,
      });
      const items = (list.items ?? []).map((item) => typed(resource, item));
      return { items, resourceVersion: list.metadata.resourceVersion ?? '' };
    },

    /**
     * Ends when the server closes the watch or its signal aborts.
     * @throws ApiError, also for an ERROR event
     */
    async *watch(
      resource: Resource,
      { namespace, signal, ...query }: WatchOptions & Selection,
    ): AsyncIterable<WatchEvent> {
      const path =
        collectionPath(resource, namespace) + queryText({ watch: true, allowWatchBookmarks: true, ...query });
      try {
        const response = await transport.open({ method: 'GET', path }, signal);
        for await (const event of jsonLines(response) as AsyncIterable<WatchEvent>) {
          if (signal.aborted) return;
          if (event.type === 'ERROR') throw new ApiError(Number(event.object.code), event.object);
          typed(resource, event.object);
          yield event;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },

    create: <T extends KubeObject = KubeObject>(resource: Resource, object: T, { fieldManager }: WriteOptions) => {
      const path = collectionPath(resource, object.metadata.namespace) + queryText({ fieldManager });
      return write<T>('POST', path, resource, typed(resource, { ...object }));
    },

    /** PUT. With `metadata.resourceVersion` it fails with a conflict when the object has changed. */
    replace: <T extends KubeObject = KubeObject>(
      resource: Resource,
      object: T,
      { fieldManager, subresource }: WriteOptions,
    ) => {
      const path = objectPath(resource, object.metadata, subresource) + queryText({ fieldManager });
      return write<T>('PUT', path, resource, typed(resource, { ...object }));
    },

    /** Server-side apply; takes fields over from other managers. */
    apply: <T extends KubeObject = KubeObject>(resource: Resource, object: KubeObject, options: WriteOptions) => {
      const { fieldManager, subresource } = options;
      const path = objectPath(resource, object.metadata, subresource) + queryText({ fieldManager, force: true });
      return write<T>('PATCH', path, resource, typed(resource, { ...object }), 'application/apply-patch+yaml');
    },

    /** JSON merge patch. */
    mergePatch: <T extends KubeObject = KubeObject>(
      resource: Resource,
      name: ObjectName,
      patch: unknown,
      options: WriteOptions,
    ) => {
      const { fieldManager, subresource } = options;
      const path = objectPath(resource, name, subresource) + queryText({ fieldManager });
      return write<T>('PATCH', path, resource, patch, 'application/merge-patch+json');
    },

    /** False: there was none. */
    async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
      const call = transport.call<object>({ method: 'DELETE', path: objectPath(resource, name), body });
      return (await unlessMissing(call)) !== undefined;
    },

    close: () => transport.close(),
  };
}

function collectionPath({ group, version, namespaced, plural }: Resource, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}`;
}

function objectPath(resource: Resource, { namespace, name }: ObjectName, subresource?: string): string {
  // Without a name, DELETE would remove the whole collection.
  if (name === '' || (resource.namespaced && !namespace)) {
    throw new TypeError(`${resource.kind} needs a name${resource.namespaced ? ' and a namespace' : ''}`);
  }
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function queryText(query: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Built-in resources come without `apiVersion` and `kind` in lists. */
function typed<T extends KubeObject>(resource: Resource, object: T): T {
  object.apiVersion = apiVersionOf(resource);
  object.kind = resource.kind;
  return object;
}
