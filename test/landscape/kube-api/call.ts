import { ApiError } from './errors.ts';
import type { Json } from './json.ts';
import type { Schema } from './schema.ts';
import type { ResourceStore } from './store.ts';

/** The user who sends a request. */
export interface User {
  name: string;
  groups: readonly string[];
}

/** A request to a resource, decoded. */
export interface Call {
  definition: Definition;
  /** Empty for cluster-scoped resources and for lists over all namespaces. */
  namespace: string;
  /** Empty for the collection. */
  name: string;
  subresource: string;
  query: URLSearchParams;
  contentType: string;
  userAgent: string;
  body: Json | undefined;
  /** Checks a second right: an apply that creates needs it. @throws ApiError 403 */
  mayCreate(): void;
  /** Asks the webhooks about a new object. @throws ApiError 403 */
  admit(): void;
}

export interface Answer {
  code: number;
  body: Json;
}

/** Returns the field manager of a write: the requested one, else the client's name. */
export function managerOf(call: Call): string {
  return call.query.get('fieldManager') || (call.userAgent.split('/')[0] ?? '').slice(0, 128);
}

/** A resource as one API version serves it. */
export interface Definition {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  namespaced: boolean;
  /** Has the status subresource. */
  status: boolean;
  generation: boolean;
  /** From a CRD. */
  custom: boolean;
  /** The apiVersion that objects are stored in. */
  storedAs: string;
  /** The CRD is being deleted: no object can be created. */
  terminating: boolean;
  schema: Schema;
  /** Shared by all versions. */
  store: ResourceStore;
}

export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the key of an object in its store. */
export function keyOf(definition: Definition, namespace: string, name: string): string {
  return definition.namespaced ? `${namespace}/${name}` : name;
}

/** A creation that a webhook is asked about. */
export interface Creation {
  user: string;
  group: string;
  /** The resource, for example `secrets`. */
  plural: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
}

/** A validating webhook for creations: of objects, not of subresources. */
export interface CreationWebhook {
  name: string;
  /** Returns why it is denied; undefined: it is not. */
  deny(creation: Creation): string | undefined;
}

/** @throws ApiError as an API server words the answer of a webhook, which gives no reason of its own */
export function askWebhooks(webhooks: readonly CreationWebhook[], creation: Creation): void {
  for (const { name, deny } of webhooks) {
    const why = deny(creation);
    if (why !== undefined) throw new ApiError(403, '', `admission webhook "${name}" denied the request: ${why}`);
  }
}
