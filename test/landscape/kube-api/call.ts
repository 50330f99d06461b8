import type { Definition } from './definition.ts';
import type { Json } from './json.ts';

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
  user: User;
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
