import type { Definition } from './definition.ts';
import type { Json } from './json.ts';

/** Who asks. */
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
  /** An apply that creates needs that right too. @throws ApiError 403 */
  mayCreate(): void;
  /** Warnings for the answer's header. */
  warnings: string[];
}

export interface Answer {
  code: number;
  body: Json;
}

export const isDryRun = (call: Call) => call.query.get('dryRun') === 'All';

/** The field manager of a write: as asked for, else the client's name. */
export function managerOf(call: Call): string {
  return call.query.get('fieldManager') || (call.userAgent.split('/')[0] ?? '').slice(0, 128);
}
