import type { KubeObject, ObjectName, Resource } from './resource.ts';

/** One page or all of a list. */
export interface ObjectList<T = KubeObject> {
  items: T[];
  resourceVersion: string;
  /** Set when more pages follow. */
  continue?: string;
}

/** Which objects are listed, and how they arrive. */
export interface ListOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Page size; absent: everything in one answer. */
  limit?: number;
  continue?: string | undefined;
  /** Only metadata (PartialObjectMetadata): Secret contents never leave the API server. */
  metadataOnly?: boolean | undefined;
  /** Gets each object as it arrives; `items` of the answer is then empty. For lists that are too big for memory. */
  onItem?: ((object: KubeObject) => void) | undefined;
}

/** Which objects are watched, from when and for how long. */
export interface WatchOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion: string;
  timeoutSeconds: number;
  metadataOnly?: boolean | undefined;
  signal: AbortSignal;
}

/** What happened to an object; a BOOKMARK only tells how far the watch has come. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject;
}

/** In whose name is written, and which part of the object. */
export interface WriteOptions {
  /** Field manager; by convention `shoot-flux-<function>`. */
  fieldManager: string;
  /** `status` for the status subresource. */
  subresource?: 'status';
}

/** What a deletion asks for. */
export interface DeleteOptions {
  /** Refused with a ConflictError when the live object has another uid or resourceVersion. */
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * The small Kubernetes client of the functions (design 8): JSON over one keep-alive connection pool, typed errors of
 * `errors.ts`, no cache. Every call fails after its own time limit and when the context's signal aborts.
 */
export interface KubeClient {
  /** Absent (404) is `undefined`; every other failure throws. */
  find<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    options?: { metadataOnly?: boolean },
  ): Promise<T | undefined>;
  list<T extends KubeObject = KubeObject>(resource: Resource, options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the server closes the watch; throws typed errors (GoneError for 410, also as ERROR event). */
  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** AlreadyExistsError when it exists. */
  create<T extends KubeObject = KubeObject>(resource: Resource, object: T, options: WriteOptions): Promise<T>;
  /** PUT; with `metadata.resourceVersion` it is refused (ConflictError) when the object changed. */
  replace<T extends KubeObject = KubeObject>(resource: Resource, object: T, options: WriteOptions): Promise<T>;
  /** Server-side apply; `force` takes fields over from other managers (default true). */
  apply<T extends KubeObject = KubeObject>(
    resource: Resource,
    object: KubeObject,
    options: WriteOptions & { force?: boolean },
  ): Promise<T>;
  /** JSON merge patch; put `metadata.resourceVersion` into it to guard it. */
  mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: unknown,
    options: WriteOptions,
  ): Promise<T>;
  /** False when there was nothing to delete. */
  delete(resource: Resource, name: ObjectName, options?: DeleteOptions): Promise<boolean>;
}
