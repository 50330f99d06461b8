import type { KubeObject, ObjectName, Resource } from './resource.ts';

/** A list, or one page of it. */
export interface ObjectList<T = KubeObject> {
  items: T[];
  resourceVersion: string;
  /** Present when more pages follow. */
  continue?: string;
}

/** Which objects are listed, and how they are returned. */
export interface ListOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Page size; default: everything in one page. */
  limit?: number;
  continue?: string | undefined;
  /** Only metadata (PartialObjectMetadata): Secret contents never leave the API server. */
  metadataOnly?: boolean | undefined;
  /**
   * Called with each object as it arrives, and the size of its JSON; `items` is then empty. For lists that are too large
   * for memory.
   */
  onItem?: ((object: KubeObject, bytes: number) => void) | undefined;
  /**
   * Called for an item that is too large or no object of Kubernetes, which is then left out. Default: the list fails. A
   * list of many tenants' objects must not fail for one of them.
   */
  onUnreadable?: ((error: Error) => void) | undefined;
}

/** Which objects are watched, from when and for how long. */
export interface WatchOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion: string;
  timeoutSeconds: number;
  metadataOnly?: boolean | undefined;
  /** Called for an event whose object is too large or no object of Kubernetes. Default: the watch fails. */
  onUnreadable?: ((error: Error) => void) | undefined;
  signal: AbortSignal;
}

/** An event of an object; a BOOKMARK only carries the resourceVersion that the watch has reached. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject;
}

/** The field manager of a write, and the part of the object that is written. */
export interface WriteOptions {
  /** Field manager; by convention `shoot-flux-<function>`. */
  fieldManager: string;
  /** `status` for the status subresource. */
  subresource?: 'status';
}

/** Why and how an object is deleted. */
export interface DeleteOptions {
  /** For the log: why the object goes, for an operator who looks for it. */
  reason: string;
  /** The deletion fails with a ConflictError if the live object has another uid or resourceVersion. */
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * The small Kubernetes client of the functions (decision 1): JSON over one keep-alive connection pool, the typed errors
 * of `errors.ts`, no cache. Every call fails after its time limit, and when the context's signal aborts.
 */
export interface KubeClient {
  /** Returns undefined for 404; every other failure throws. */
  find<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    options?: { metadataOnly?: boolean },
  ): Promise<T | undefined>;
  list<T extends KubeObject = KubeObject>(resource: Resource, options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the server closes the watch; throws typed errors (GoneError for 410, also as ERROR event). */
  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** @throws AlreadyExistsError */
  create<T extends KubeObject = KubeObject>(resource: Resource, object: T, options: WriteOptions): Promise<T>;
  /** PUT. @throws ConflictError if `metadata.resourceVersion` is set and the object has changed */
  replace<T extends KubeObject = KubeObject>(resource: Resource, object: T, options: WriteOptions): Promise<T>;
  /** Server-side apply that takes fields from other managers. */
  apply<T extends KubeObject = KubeObject>(resource: Resource, object: KubeObject, options: WriteOptions): Promise<T>;
  /** JSON merge patch; a `metadata.resourceVersion` in it guards against concurrent changes. */
  mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: unknown,
    options: WriteOptions,
  ): Promise<T>;
  /** Returns false if the object did not exist. */
  delete(resource: Resource, name: ObjectName, options: DeleteOptions): Promise<boolean>;
}
