import { type Call, keyOf } from './call.ts';
import { remove } from './deletes.ts';
import { type ApiObject, isObject } from './json.ts';
import type { Registry } from './registry.ts';
import type { StoreEvent } from './store.ts';
import { create, mergePatch, patch, update } from './writes.ts';

/** Names an object: any object of the API will do. */
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

/**
 * Access to the objects of an embedded API server without HTTP, under the same rules as with it. Callers must not change
 * the objects that it returns.
 */
export class Objects {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  find(reference: ObjectReference): ApiObject | undefined {
    const { definition, namespace, name } = this.#call(reference);
    return definition.store.get(keyOf(definition, namespace, name));
  }

  /** @throws Error when it does not exist */
  get(reference: ObjectReference): ApiObject {
    const found = this.find(reference);
    if (found !== undefined) return found;
    const { kind, metadata } = reference;
    throw new Error(
      `There is no ${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`,
    );
  }

  /** Returns all objects of a kind, or those in a namespace, in the order of lists. */
  list(apiVersion: string, kind: string, namespace?: string): ApiObject[] {
    const { definition } = this.#call({ apiVersion, kind, metadata: { name: '' } });
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    return [...definition.store.range(prefix, '', definition.store.revision)].map(([, object]) => object);
  }

  create(object: ObjectReference): ApiObject {
    const call = this.#call(object);
    return create(this.#registry, { ...call, name: '', body: object as unknown as ApiObject }).body as ApiObject;
  }

  /** Creates the namespace when it is missing. */
  ensureNamespace(name: string): ApiObject {
    const reference = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return this.find(reference) ?? this.create(reference);
  }

  replace(object: ObjectReference): ApiObject {
    return update({ ...this.#call(object), body: object as unknown as ApiObject }).body as ApiObject;
  }

  /** Applies on the server, with force. */
  apply(object: ObjectReference, manager = 'test'): ApiObject {
    const query = new URLSearchParams({ fieldManager: manager, force: 'true' });
    const contentType = 'application/apply-patch+yaml';
    const body = object as unknown as ApiObject;
    return patch(this.#registry, { ...this.#call(object), query, contentType, body }).body as ApiObject;
  }

  /** Applies a JSON merge patch. */
  patch(reference: ObjectReference, change: object): ApiObject {
    return this.#patch(reference, change, '');
  }

  /** Applies a JSON merge patch to the status; `change` is the patch of `.status`. */
  patchStatus(reference: ObjectReference, change: object): ApiObject {
    return this.#patch(reference, { status: change }, 'status');
  }

  /** @returns false when there was nothing to delete */
  delete(reference: ObjectReference): boolean {
    if (this.find(reference) === undefined) return false;
    remove(this.#call(reference));
    return true;
  }

  /** Calls back synchronously for every change of a kind from now on. @returns a function that stops it */
  onChange(apiVersion: string, kind: string, listener: (event: StoreEvent) => void): () => void {
    return this.#call({ apiVersion, kind, metadata: { name: '' } }).definition.store.subscribe(listener);
  }

  #patch(reference: ObjectReference, change: object, subresource: string): ApiObject {
    const call = this.#call(reference);
    // A resource without the subresource has its status in the object itself.
    const chosen = subresource === '' || call.definition.status ? subresource : '';
    const live = this.get(reference);
    const body = mergePatch(live, change as ApiObject);
    return update({ ...call, subresource: chosen, body }).body as ApiObject;
  }

  #call(reference: ObjectReference): Call {
    const { apiVersion, kind, metadata } = reference;
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const definition = this.#registry
      .all()
      .find((known) => known.group === group && known.version === version && known.kind === kind);
    if (definition === undefined) throw new Error(`The embedded API does not serve ${apiVersion} ${kind}`);
    const namespace = isObject(metadata) && definition.namespaced ? (metadata.namespace ?? 'default') : '';
    return {
      definition,
      namespace,
      name: metadata.name,
      subresource: '',
      query: new URLSearchParams(),
      contentType: 'application/merge-patch+json',
      userAgent: 'test',
      body: undefined,
      mayCreate: () => {},
      admit: () => {},
    };
  }
}
